package twin

import (
	"errors"
	"time"

	"github.com/IBM/sarama"
)

func claims() []Scenario {
	return []Scenario{
		{"claim-returns", claimReturns},
		{"buffer-after-cancel", bufferAfterCancel},
		{"start-out-of-range", startOutOfRange},
		{"start-out-of-range-without-reset", startOutOfRangeWithoutReset},
		{"trimmed-under-a-claim", trimmed},
		{"group-pause", groupPause},
	}
}

// claimReturns lets one of two claims return an error.
func claimReturns(s *stage) {
	s.CreateTopic(s.name, 2)
	s.Produce(s.name, 1, 1)
	m := s.cast("a", config(cooperative()), func(m *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		if c.Partition() == 1 {
			<-c.Messages()
			return errors.New("fault")
		}
		_ = drain(m, se, c)
		m.note("partition 0 closed")
		return nil
	})
	m.consume(background())
	m.close()
}

// bufferAfterCancel counts what is delivered after the session has ended.
func bufferAfterCancel(s *stage) {
	s.CreateTopic(s.name, 1)
	s.Produce(s.name, 0, 20)
	a := s.enter("a", config(sticky()), func(m *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		first := <-c.Messages()
		m.note("starts at %d, first message %d, high watermark %d", c.InitialOffset(), first.Offset, c.HighWaterMarkOffset())
		<-se.Context().Done()
		time.Sleep(500 * time.Millisecond)
		late := 0
		for range c.Messages() {
			late++
		}
		m.note("%d messages after the end", late)
		return nil
	})
	time.Sleep(settle)
	a.leave()
}

// behind makes a committed offset that the log no longer has.
func behind(s *stage) {
	s.CreateTopic(s.name, 1)
	s.Produce(s.name, 0, 10)
	s.Commit(s.name, s.name, 0, 2)
	s.Trim(s.name, 0, 5)
}

func startOutOfRange(s *stage) {
	behind(s)
	a := s.enter("a", config(sticky()), func(m *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		first := <-c.Messages()
		m.note("starts at %d, first message %d", c.InitialOffset(), first.Offset)
		return drain(m, se, c)
	})
	time.Sleep(settle)
	a.leave()
}

func startOutOfRangeWithoutReset(s *stage) {
	behind(s)
	m := s.cast("a", config(sticky(), func(cfg *sarama.Config) { cfg.Consumer.Group.ResetInvalidOffsets = false }), drain)
	m.consume(background())
	m.close()
}

// trimmed deletes what a paused claim has yet to fetch.
func trimmed(s *stage) {
	s.CreateTopic(s.name, 1)
	s.Produce(s.name, 0, 10)
	m := s.cast("a", config(sticky()), func(m *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		pause(c)
		_ = drain(m, se, c)
		m.note("Messages closed, session %v", se.Context().Err())
		return nil
	})
	done := make(chan struct{})
	// Ends with the claim.
	go func() {
		defer close(done)
		m.consume(background())
	}()
	time.Sleep(settle)
	s.Produce(s.name, 0, 10)
	s.Trim(s.name, 0, 15)
	m.Resume(map[string][]int32{s.name: {0}})
	<-done
	m.awaitError() // sarama forwards it on a goroutine of its own, and drops it when the group is closed by then
	m.close()
}

func pause(c sarama.ConsumerGroupClaim) {
	if p, ok := c.(sarama.PartitionConsumer); ok {
		p.Pause()
	}
}

// groupPause shows a pause outlive its session.
func groupPause(s *stage) {
	s.CreateTopic(s.name, 1)
	a := s.enter("a", config(sticky()), func(m *member, se sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		if p, ok := c.(sarama.PartitionConsumer); ok {
			m.note("paused %v", p.IsPaused())
		}
		for msg := range c.Messages() {
			m.note("gets %d", msg.Offset)
			se.MarkMessage(msg, "")
		}
		return nil
	})
	time.Sleep(settle)
	a.PauseAll()
	time.Sleep(500 * time.Millisecond)
	s.Produce(s.name, 0, 1)
	time.Sleep(time.Second)
	a.note("resumes")
	a.ResumeAll()
	time.Sleep(time.Second)
	a.Pause(map[string][]int32{s.name: {0}})
	time.Sleep(500 * time.Millisecond)
	restart(s)
	a.leave()
}

// restart ends everybody's session.
func restart(s *stage) {
	b := s.enter("b", config(sticky()), drain)
	time.Sleep(moment)
	b.leave()
	s.members = s.members[:len(s.members)-1]
	time.Sleep(moment)
}
