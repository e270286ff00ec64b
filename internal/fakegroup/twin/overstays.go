package twin

import (
	"context"
	"time"

	"github.com/IBM/sarama"
)

func overstays() []Scenario {
	return []Scenario{
		{"eager-overstay", eagerOverstay},
		{"cooperative-overstay", cooperativeOverstay},
	}
}

// stuck returns a ConsumeClaim that is deaf until hold is closed.
func stuck(hold <-chan struct{}) claimFunc {
	return func(m *member, s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		<-hold
		return drain(m, s, c)
	}
}

// eagerOverstay shows the group go on without the member, and the member's commit refused.
func eagerOverstay(s *stage) {
	s.CreateTopic(s.name, 2)
	hold := make(chan struct{})
	a := s.enter("a", config(sticky()), stuck(hold))
	time.Sleep(settle)
	b := s.enter("b", config(sticky()), drain)
	time.Sleep(moment)
	a.note("of %d members before the rebalance timeout", s.Members(s.name))
	time.Sleep(moment)
	a.note("gone: %d members after it, b owns %d", s.Members(s.name), b.owns())
	a.current().MarkOffset(s.name, 0, 1, "")
	a.current().Commit()
	a.note("a late commit leaves %d", s.committed(0))
	a.cancel()
	close(hold)
	end(a, b)
	s.members = s.members[:1]
}

// cooperativeOverstay shows a claim take its whole session down.
func cooperativeOverstay(s *stage) {
	s.CreateTopic(s.name, 2)
	hold := make(chan struct{})
	a := s.enter("a", config(cooperative()), stuck(hold))
	time.Sleep(settle)
	b := s.enter("b", config(cooperative()), drain)
	time.Sleep(6 * time.Second)
	a.note("session ended: %v", context.Cause(a.current().Context()))
	a.cancel()
	close(hold)
	end(a, b)
	s.members = s.members[:1]
}
