package twin

import (
	"context"
	"time"

	"github.com/IBM/sarama"
)

func rebalances() []Scenario {
	return []Scenario{
		{"eager-join-leave", func(s *stage) { joinLeave(s, sticky) }},
		{"cooperative-join-leave", func(s *stage) { joinLeave(s, func() sarama.BalanceStrategy { return spied() }) }},
		{"cooperative-three", three},
		{"cooperative-revoked-by-messages", revokedByMessages},
		{"eager-partitions-added", func(s *stage) { partitionsAdded(s, sticky()) }},
		{"cooperative-partitions-added", func(s *stage) { partitionsAdded(s, spied()) }},
		{"rejoin-of-one-member", rejoinOfOne},
		{"crash", crash},
	}
}

func joinLeave(s *stage, strategy func() sarama.BalanceStrategy) {
	s.CreateTopic(s.name, 4)
	a := s.enter("a", config(strategy()), drain)
	time.Sleep(settle)
	b := s.enter("b", config(strategy()), drain)
	time.Sleep(settle)
	b.leave()
	time.Sleep(moment)
	a.leave()
}

// lingering takes two seconds to let a revoked claim go.
func lingering(m *member, s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	_ = drain(m, s, c)
	if s.Context().Err() == nil {
		time.Sleep(2 * time.Second)
		m.note("lets a revoked claim go")
	}
	return nil
}

// three members, the third while the first lets claims go for the second.
func three(s *stage) {
	s.CreateTopic(s.name, 6)
	a := s.enter("a", config(spied()), lingering)
	time.Sleep(settle)
	b := s.enter("b", config(cooperative()), drain)
	time.Sleep(1500 * time.Millisecond)
	c := s.enter("c", config(cooperative()), drain)
	time.Sleep(2 * settle)
	a.note("the members own %d, %d and %d", a.owns(), b.owns(), c.owns())
	s.members = s.members[:1]
	end(b, c, a)
}

// revokedByMessages shows what a handler sees of a cooperative revocation.
func revokedByMessages(s *stage) {
	s.CreateTopic(s.name, 2)
	a := s.enter("a", config(cooperative()), func(m *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		_ = drain(m, se, c)
		m.note("Messages closed, session %v, %d claims, generation %d", context.Cause(se.Context()), count(se.Claims()), se.GenerationID())
		return nil
	})
	time.Sleep(settle)
	b := s.enter("b", config(cooperative()), drain)
	time.Sleep(settle)
	end(a, b)
	s.members = s.members[:1]
}

func partitionsAdded(s *stage, strategy sarama.BalanceStrategy) {
	s.CreateTopic(s.name, 1)
	a := s.enter("a", config(strategy, refreshing), drain)
	time.Sleep(settle)
	s.AddPartitions(s.name, 3)
	time.Sleep(moment)
	a.note("owns %d", a.owns())
	a.leave()
}

// rejoinOfOne lets a claim of the follower return, and then one of the leader.
func rejoinOfOne(s *stage) {
	s.CreateTopic(s.name, 2)
	a := s.enter("a", config(ranged()), drain)
	time.Sleep(settle)
	turn := make(chan struct{}, 1)
	b := s.enter("b", config(ranged()), func(_ *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		select {
		case <-turn:
		case <-se.Context().Done():
		}
		return nil
	})
	time.Sleep(settle)
	turn <- struct{}{}
	time.Sleep(moment)
	a.note("is in generation %d", a.current().GenerationID())
	end(b, a)
}

// crash stops a member without a word.
func crash(s *stage) {
	s.CreateTopic(s.name, 2)
	a := s.enter("a", config(cooperative()), drain)
	time.Sleep(settle)
	b := s.enter("b", config(cooperative()), drain)
	time.Sleep(settle)
	a.crash()
	time.Sleep(5 * time.Second)
	b.note("owns %d before the session timeout", b.owns())
	time.Sleep(4 * time.Second)
	b.note("owns %d after it", b.owns())
	b.leave()
	a.close()
}
