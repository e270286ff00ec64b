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
	_, messages := c.audit.claimed(p)
	in := &claim{partition: p, initial: c.audit.committedOf(p), messages: make(chan *sarama.ConsumerMessage, buffer), end: 1000}
	if c.own != nil && rand.IntN(3) == 0 { // sarama was told an older commit, or none
		in.initial, messages = c.stale(p, in.initial)
	}
	done, patient := make(chan struct{}), c.patient
	go func() { // ends with the claim
		defer close(in.messages)
		revoke := time.After(after)
		if !calm {
			revoke = nil
		}
		for {
			var m *sarama.ConsumerMessage
			var to chan<- *sarama.ConsumerMessage
			if len(messages) > 0 && !in.isPaused() {
				m, to = messages[0], in.messages
			}
			select {
			case to <- m:
				messages = messages[1:]
			case <-time.After(time.Millisecond):
				if patient && c.audit.done(p) {
					time.Sleep(time.Second)
					for _, s := range c.group.Status().Claims {
						if s.Partition == p && (s.Backlog != 0 || s.Bytes != 0 || s.Paused || len(s.Tasks) > 0 || s.Retrying) {
							c.t.Errorf("left over: %+v", s)
						}
					}
					return
				}
				for _, s := range c.group.Status().Claims {
					if s.Backlog < 0 || s.Bytes < 0 {
						c.t.Errorf("negative: %+v", s)
					}
				}
			case <-revoke:
				if patient {
					c.t.Errorf("stalled: order %v, paused %v, to come %d, committed %d, own %v, initial %d: %+v", c.order, in.isPaused(), len(messages), c.audit.committedOf(p), c.own != nil, in.initial, c.group.Status())
				}
				return
			case <-revoked:
				return
			case <-done:
				return
			}
		}
	}()
	var source sarama.ConsumerGroupClaim = in
	if c.rigid {
		source = struct{ sarama.ConsumerGroupClaim }{in}
	}
	if err := c.group.ConsumeClaim(s, source); err != nil {
		c.t.Error(err)
	}
	close(done)
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
