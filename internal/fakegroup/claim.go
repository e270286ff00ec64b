package fakegroup

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"
)

// claim is a [sarama.ConsumerGroupClaim] that is also a [sarama.PartitionConsumer], as sarama's concrete claim is
// (consumer_group_session.go:554-559).
type claim struct {
	group   *Group
	tp      topicPartition
	log     *partitionLog
	initial int64 // as asked for: sarama.OffsetOldest and OffsetNewest are not resolved

	messages chan *sarama.ConsumerMessage
	errs     chan *sarama.ConsumerError
	dying    chan struct{}
	once     sync.Once
	paused   atomic.Bool
	gate     *signal // the pause changed, or a failure was ordered
	failure  atomic.Pointer[error]
	mark     atomic.Int64 // high watermark as of the last fetch with records

	position int64 // next offset to fetch; the feeding goroutine's own
	wg       sync.WaitGroup
}

var (
	_ sarama.ConsumerGroupClaim = (*claim)(nil)
	_ sarama.PartitionConsumer  = (*claim)(nil)
)

func (c *claim) Topic() string                            { return c.tp.topic }
func (c *claim) Partition() int32                         { return c.tp.partition }
func (c *claim) InitialOffset() int64                     { return c.initial }
func (c *claim) HighWaterMarkOffset() int64               { return c.mark.Load() }
func (c *claim) Messages() <-chan *sarama.ConsumerMessage { return c.messages }
func (c *claim) Errors() <-chan *sarama.ConsumerError     { return c.errs }
func (c *claim) IsPaused() bool                           { return c.paused.Load() }
func (c *claim) AsyncClose()                              { c.once.Do(func() { close(c.dying) }) }

// Pause stops later fetches. The batch already fetched keeps flowing, as in sarama.
func (c *claim) Pause() {
	c.paused.Store(true)
	c.gate.broadcast()
}

func (c *claim) Resume() {
	c.paused.Store(false)
	c.gate.broadcast()
}

// Close closes the claim and collects its errors.
func (c *claim) Close() error {
	c.AsyncClose()
	if errs := c.drain(); len(errs) > 0 {
		return errs
	}
	return nil
}

// drain reads both channels to their end (consumer_group_session.go:584-594).
func (c *claim) drain() (errs sarama.ConsumerErrors) {
	// Ends when the feeding goroutine closes the channel.
	c.wg.Go(func() {
		for range c.messages {
		}
	})
	for err := range c.errs {
		errs = append(errs, err)
	}
	c.wg.Wait()
	return errs
}

// openClaim starts to consume at the marked offset. One that the log does not have is replaced by Consumer.Offsets.Initial if
// Group.ResetInvalidOffsets says so (consumer_group_session.go:561-571).
func (s *session) openClaim(tp topicPartition) (*claim, error) {
	log := s.group.cluster.log(tp)
	if log == nil {
		return nil, sarama.ErrUnknownTopicOrPartition
	}
	initial := s.marks.next(tp)
	position, err := resolve(log, initial)
	if errors.Is(err, sarama.ErrOffsetOutOfRange) && s.group.cfg.Consumer.Group.ResetInvalidOffsets {
		initial = s.group.cfg.Consumer.Offsets.Initial
		position, err = resolve(log, initial)
	}
	if err != nil {
		return nil, err
	}
	return s.group.newClaim(tp, log, initial, position), nil
}

// resolve finds the offset to start from (consumer.go:700-727).
func resolve(log *partitionLog, offset int64) (int64, error) {
	switch start, next := log.bounds(); {
	case offset == sarama.OffsetNewest:
		return next, nil
	case offset == sarama.OffsetOldest:
		return start, nil
	case offset >= start && offset <= next:
		return offset, nil
	}
	return 0, sarama.ErrOffsetOutOfRange
}

func (g *Group) newClaim(tp topicPartition, log *partitionLog, initial, position int64) *claim {
	c := &claim{
		group: g, tp: tp, log: log, initial: initial, position: position,
		messages: make(chan *sarama.ConsumerMessage, g.cfg.ChannelBufferSize), errs: make(chan *sarama.ConsumerError, g.cfg.ChannelBufferSize),
		dying: make(chan struct{}), gate: newSignal(),
	}
	_, next := log.bounds()
	c.mark.Store(next)
	g.adopt(c)
	// Ends some time after AsyncClose, or when the claim fails.
	c.wg.Go(c.feed)
	// Ends when the feeding goroutine closes the channel.
	c.wg.Go(func() {
		for err := range c.errs {
			g.report(err, tp)
		}
	})
	return c
}

// sendError queues an error when Consumer.Return.Errors is set; the channel is read by the group and perhaps by the handler.
func (c *claim) sendError(err error) {
	if c.group.cfg.Consumer.Return.Errors {
		c.errs <- &sarama.ConsumerError{Topic: c.tp.topic, Partition: c.tp.partition, Err: err}
	}
}

// after waits d, less when the claim is closed.
func (c *claim) after(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.dying:
	}
}
