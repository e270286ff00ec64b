package handlertest

import (
	"github.com/IBM/sarama"
)

// source is where a claim's messages come from.
type source interface {
	// next waits for a message. It returns nil when stop is closed first, or when no more will come.
	next(stop <-chan struct{}) *sarama.ConsumerMessage
	// done says, with the run's lock held, whether all there is so far is covered by a committed offset.
	done(committed int64) bool
	// end is, with the run's lock held, the offset after the last message so far.
	end() int64
	// close tells the source that its claim ends.
	close()
}

// logSource reads what the test delivers to a partition.
type logSource struct {
	run      *Run
	p        *partition
	position int64 // next offset to read; the feeding goroutine's own
}

func (s *logSource) next(stop <-chan struct{}) (m *sarama.ConsumerMessage) {
	for {
		changed, ok := s.run.look(func() bool { m = s.p.from(s.position); return m != nil })
		if ok {
			s.position = m.Offset + 1
			own := *m // a handler may change what it is given
			return &own
		}
		select {
		case <-changed:
		case <-stop:
			return nil
		}
	}
}

func (s *logSource) done(committed int64) bool { return s.p.from(committed) == nil }

func (s *logSource) end() int64 { return s.p.next }

func (s *logSource) close() {}

// consumerSource reads from a partition consumer.
type consumerSource struct {
	pc    sarama.PartitionConsumer
	empty int64 // high watermark at which nothing has been yielded, -1 when something had been from the start
}

func newConsumerSource(pc sarama.PartitionConsumer) *consumerSource {
	s := &consumerSource{pc: pc, empty: pc.HighWaterMarkOffset()}
	if len(pc.Messages()) > 0 {
		s.empty = -1
	}
	return s
}

func (s *consumerSource) next(stop <-chan struct{}) *sarama.ConsumerMessage {
	select {
	case m := <-s.pc.Messages():
		return m
	case <-stop:
		return nil
	}
}

func (s *consumerSource) done(committed int64) bool {
	return s.end() == s.empty || committed >= s.end()
}

func (s *consumerSource) end() int64 { return s.pc.HighWaterMarkOffset() }

// close closes the partition consumer and throws away what it holds.
func (s *consumerSource) close() {
	s.pc.AsyncClose()
	for range s.pc.Messages() {
	}
}
