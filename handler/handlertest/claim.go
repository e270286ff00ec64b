package handlertest

import (
	"sync"

	"github.com/IBM/sarama"
)

// claim is a [sarama.ConsumerGroupClaim] that can be paused, as sarama's concrete one.
type claim struct {
	p        *partition
	session  *session
	source   source
	initial  int64
	messages chan *sarama.ConsumerMessage
	dying    chan struct{} // closed: Messages closes
	once     sync.Once
	returned chan struct{} // closed: ConsumeClaim has returned and the messages are drained
	wg       sync.WaitGroup

	mu     sync.Mutex
	paused chan struct{} // closed by Resume, nil while not paused
}

var _ sarama.ConsumerGroupClaim = (*claim)(nil)

func (c *claim) Topic() string                            { return c.p.key.Topic }
func (c *claim) Partition() int32                         { return c.p.key.Partition }
func (c *claim) InitialOffset() int64                     { return c.initial }
func (c *claim) Messages() <-chan *sarama.ConsumerMessage { return c.messages }

func (c *claim) HighWaterMarkOffset() int64 {
	c.session.run.mu.Lock()
	defer c.session.run.mu.Unlock()
	return c.source.end()
}

// Pause withholds messages until Resume.
func (c *claim) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == nil {
		c.paused = make(chan struct{})
	}
}

// Resume ends a pause.
func (c *claim) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused != nil {
		close(c.paused)
		c.paused = nil
	}
}

// IsPaused says whether messages are withheld.
func (c *claim) IsPaused() bool { return c.gate() != nil }

func (c *claim) gate() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

// close makes Messages close. What is buffered can still be received.
func (c *claim) close() { c.once.Do(func() { close(c.dying) }) }

// feed moves messages from the source to the claim until it is closed or the source has ended.
func (c *claim) feed() {
	defer close(c.messages)
	for {
		m := c.source.next(c.dying)
		if m == nil {
			return
		}
		c.began(m.Offset)
		if !c.send(m) {
			return
		}
	}
}

// began notes where the partition begins.
func (c *claim) began(offset int64) {
	c.session.run.mu.Lock()
	defer c.session.run.mu.Unlock()
	if c.p.first < 0 {
		c.p.first = offset
	}
}

func (c *claim) send(m *sarama.ConsumerMessage) bool {
	for gate := c.gate(); gate != nil; gate = c.gate() {
		select {
		case <-gate:
		case <-c.dying:
			return false
		}
	}
	select {
	case c.messages <- m:
		return true
	case <-c.dying:
		return false
	}
}

// consume calls the handler and cleans up as sarama does: a claim that returns unasked ends the session.
func (c *claim) consume() {
	defer close(c.returned)
	_ = c.session.run.g.ConsumeClaim(c.session, c) // always nil
	select {
	case <-c.dying:
	default:
		c.session.cancel(sarama.ErrSessionConsumeClaimExited)
	}
	c.close()
	for range c.messages {
	}
	c.source.close()
	c.wg.Wait()
}
