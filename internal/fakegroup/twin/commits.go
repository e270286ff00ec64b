package twin

import (
	"context"
	"time"

	"github.com/IBM/sarama"
)

func commits() []Scenario {
	return []Scenario{
		{"marks", marks},
		{"no-autocommit", noAutocommit},
		{"close-while-running", closeWhileRunning},
	}
}

func background() context.Context { return context.Background() }

// never keeps the timed commit out of the way.
func never(cfg *sarama.Config) { cfg.Consumer.Offsets.AutoCommit.Interval = time.Hour }

// marks shows which marks and resets are taken.
func marks(s *stage) {
	s.CreateTopic(s.name, 1)
	a := s.enter("a", config(sticky(), never), drain)
	time.Sleep(settle)
	se := a.current()
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"reset to 0 of nothing", func() { se.ResetOffset(s.name, 0, 0, "a") }},
		{"mark 0", func() { se.MarkOffset(s.name, 0, 0, "b") }},
		{"mark 5", func() { se.MarkOffset(s.name, 0, 5, "c") }},
		{"mark 5 again", func() { se.MarkOffset(s.name, 0, 5, "d") }},
		{"reset to 5", func() { se.ResetOffset(s.name, 0, 5, "e") }},
		{"reset to 9", func() { se.ResetOffset(s.name, 0, 9, "f") }},
		{"reset to 2", func() { se.ResetOffset(s.name, 0, 2, "g") }},
		{"mark of another partition", func() { se.MarkOffset(s.name, 7, 2, "h") }},
	} {
		step.do()
		se.Commit()
		a.noteCommitted(step.what)
	}
	se.MarkOffset(s.name, 0, 8, "at the end")
	a.leave()
	a.noteCommitted("the end")
	se.MarkOffset(s.name, 0, 9, "late")
	se.Commit()
	a.noteCommitted("a late mark")
}

func (m *member) noteCommitted(after string) {
	offset, metadata := m.stage.Committed(m.stage.name, m.stage.name, 0)
	m.note("%s: committed %d %q", after, offset, metadata)
}

// noAutocommit shows the marks of a revoked claim thrown away, and those of a retained one committed on demand.
func noAutocommit(s *stage) {
	s.CreateTopic(s.name, 2)
	off := func(cfg *sarama.Config) { cfg.Consumer.Offsets.AutoCommit.Enable = false }
	a := s.enter("a", config(cooperative(), off), func(m *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		se.MarkOffset(s.name, c.Partition(), 4, "")
		return drain(m, se, c)
	})
	time.Sleep(settle)
	b := s.enter("b", config(cooperative(), off), drain)
	time.Sleep(settle)
	a.note("after the revocation %d", max(s.committed(0), s.committed(1)))
	a.current().Commit()
	a.note("after Commit %d and %d", min(s.committed(0), s.committed(1)), max(s.committed(0), s.committed(1)))
	end(a, b)
	s.members = s.members[:1]
}

// closeWhileRunning calls Close without ending the context.
func closeWhileRunning(s *stage) {
	s.CreateTopic(s.name, 2)
	a := s.cast("a", config(cooperative(), never), drain)
	done := make(chan struct{})
	// Ends with Close.
	go func() {
		defer close(done)
		a.consume(background())
	}()
	time.Sleep(settle)
	a.current().MarkOffset(s.name, 0, 3, "m")
	a.close()
	<-done
	a.noteCommitted("Close")
	a.note("%d members", s.Members(s.name))
	a.consume(background())
}
