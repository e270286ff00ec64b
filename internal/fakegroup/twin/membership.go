package twin

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
)

func statics() []Scenario {
	return []Scenario{
		{"static-restart", staticRestart},
		{"static-duplicate", staticDuplicate},
	}
}

// staticRestart replaces a static member within its session timeout.
func staticRestart(s *stage) {
	s.CreateTopic(s.name, 2)
	a := s.enter("a", config(cooperative(), static), drain)
	time.Sleep(settle)
	a.leave()
	b := s.enter("b", config(cooperative(), static), drain)
	time.Sleep(moment)
	b.leave()
}

// staticDuplicate starts a second process under the same id.
func staticDuplicate(s *stage) {
	s.CreateTopic(s.name, 1)
	a := s.cast("a", config(sticky(), static), drain)
	done := make(chan struct{})
	// Ends when the member is fenced.
	go func() {
		defer close(done)
		a.consume(background())
	}()
	time.Sleep(settle)
	b := s.enter("b", config(sticky(), static), drain)
	<-done
	a.consume(background())
	a.close()
	b.leave()
}

func refusals() []Scenario {
	return []Scenario{
		{"refused-joins", refusedJoins},
		{"setup-fails", setupFails},
		{"plan-fails", planFails},
	}
}

// refusedJoins tries what a group or broker refuses, beside a member that must not notice.
func refusedJoins(s *stage) {
	s.CreateTopic(s.name, 1)
	a := s.enter("a", config(cooperative()), drain)
	time.Sleep(settle)
	s.refused("other-strategy", config(ranged()), s.name)
	s.refused("long-session", config(cooperative(), func(cfg *sarama.Config) { cfg.Consumer.Group.Session.Timeout = time.Hour }), s.name)
	s.refused("missing-topic", config(cooperative()), s.name+"-missing")
	s.refused("no-topic", config(cooperative()))
	time.Sleep(moment)
	a.leave()
}

// refused consumes once.
func (s *stage) refused(who string, cfg *sarama.Config, topics ...string) {
	m := s.cast(who, cfg, drain)
	ctx, cancel := context.WithTimeout(background(), 2*settle)
	defer cancel()
	m.note("consume: %v", m.Consume(ctx, topics, m))
	m.close()
}

func setupFails(s *stage) {
	s.CreateTopic(s.name, 2)
	m := s.cast("a", config(cooperative()), drain)
	m.setup = errors.New("not today")
	m.consume(background())
	m.note("%d members", s.Members(s.name))
	m.close()
	m.note("%d members after Close", s.Members(s.name))
}

func planFails(s *stage) {
	s.CreateTopic(s.name, 2)
	strategy := spied()
	strategy.fault = errors.New("no plan")
	m := s.cast("a", config(strategy), drain)
	m.consume(background())
	m.consume(background())
	m.note("%d members", s.Members(s.name))
	m.close()
}
