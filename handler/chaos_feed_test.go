package handler_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/IBM/sarama"
)

// claim feeds a partition until it is revoked, or until all of it is committed.
func (c *chaos) claim(s sarama.ConsumerGroupSession, revoked <-chan struct{}, p int32, buffer int, after time.Duration, calm bool) {
	if c.compacts {
		c.audit.compact(p, func() bool { return rand.IntN(25) == 0 })
	}
	if c.retains && rand.IntN(3) == 0 {
		c.audit.retain(p, rand.IntN(40))
	}
	_, messages := c.audit.claimed(p)
	in := &claim{partition: p, initial: c.audit.committedOf(p), messages: make(chan *sarama.ConsumerMessage, buffer), end: 1000}
	if first := c.audit.firstOf(p); c.retains && in.initial < first {
		in.initial = -2
	}
	if c.own != nil && rand.IntN(3) == 0 { // sarama was told an older commit, or none
		in.initial, messages = c.stale(p, in.initial)
	}
	f := &feed{chaos: c, in: in, messages: messages, patient: c.patient, revoked: revoked, done: make(chan struct{})}
	if calm {
		f.revoke = time.After(after)
	}
	go f.run() // ends with the claim
	var source sarama.ConsumerGroupClaim = in
	if c.rigid {
		source = struct{ sarama.ConsumerGroupClaim }{in}
	}
	if err := c.group.ConsumeClaim(s, source); err != nil {
		c.t.Error(err)
	}
	close(f.done)
}

// feed is what sarama does for a claim.
type feed struct {
	*chaos
	in       *claim
	messages []*sarama.ConsumerMessage // to come
	patient  bool
	revoke   <-chan time.Time
	revoked  <-chan struct{}
	done     chan struct{}
}

func (f *feed) run() {
	defer close(f.in.messages)
	for f.step() {
	}
}

// step delivers a message, or waits a moment, and returns false when the claim ends.
func (f *feed) step() bool {
	var m *sarama.ConsumerMessage
	var to chan<- *sarama.ConsumerMessage
	if len(f.messages) > 0 && !f.in.isPaused() {
		m, to = f.messages[0], f.in.messages
	}
	select {
	case to <- m:
		f.messages = f.messages[1:]
	case <-time.After(time.Millisecond):
		return f.look()
	case <-f.revoke:
		if f.patient {
			f.t.Errorf("stalled: order %v, paused %v, to come %d, committed %d, own %v, initial %d: %+v", f.order, f.in.isPaused(),
				len(f.messages), f.audit.committedOf(f.in.partition), f.chaos.own != nil, f.in.initial, f.group.Status())
		}
		return false
	case <-f.revoked:
		return false
	case <-f.done:
		return false
	}
	return true
}

// look wants counts that make sense, and nothing left over when all is done.
func (f *feed) look() (goOn bool) {
	over := f.patient && f.audit.done(f.in.partition)
	if over {
		time.Sleep(time.Second)
	}
	for _, s := range f.group.Status().Claims {
		if s.Backlog < 0 || s.Bytes < 0 {
			f.t.Errorf("negative: %+v", s)
		}
		busy := s.Backlog != 0 || s.Bytes != 0 || s.Paused || len(s.Tasks) > 0 || s.Retrying
		if over && s.Partition == f.in.partition && busy {
			f.t.Errorf("left over: %+v", s)
		}
	}
	return !over
}

// auditedSession tells each mark.
type auditedSession struct {
	*session
	audit *audit
}

func (s *auditedSession) MarkOffset(_ string, p int32, offset int64, _ string) {
	s.audit.marked(p, offset)
}

// stale is a start before the commit.
func (c *chaos) stale(p int32, committed int64) (initial int64, messages []*sarama.ConsumerMessage) {
	initial = max(0, committed-int64(rand.IntN(60)))
	if rand.IntN(3) == 0 {
		initial = -2
	}
	c.audit.mu.Lock()
	defer c.audit.mu.Unlock()
	x := c.audit.partitions[p]
	for _, o := range x.log {
		if o >= initial {
			messages = append(messages, &sarama.ConsumerMessage{Topic: topic, Partition: p, Offset: o, Key: x.key(o), Value: fmt.Appendf(nil, "%6d", x.claim)})
		}
	}
	return initial, messages
}
