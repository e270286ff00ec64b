package handler

import (
	"bytes"
	"slices"

	"github.com/IBM/sarama"
)

// receive takes a message and whatever lies behind it in the channel, in one go.
func (l *loop) receive(m *sarama.ConsumerMessage, ok bool) {
	batch, ok := l.gather(m, ok)
	if !ok { // revoked: what came with it does not start
		l.open = false
	} else if len(batch) > 0 {
		l.take(batch)
	}
	clear(batch)
}

// gather collects what lies behind a message in the channel, and says whether the channel is still open.
func (l *loop) gather(m *sarama.ConsumerMessage, ok bool) ([]*sarama.ConsumerMessage, bool) {
	n, most := 0, l.room.batch()
	for ok && m != nil {
		l.batch[n] = m
		if n++; n == most {
			break
		}
		select {
		case m, ok = <-l.messages:
		default:
			m = nil
		}
	}
	return l.batch[:n], ok
}

// take makes tasks of messages. Those of one batch lie in one piece of memory, which lives as long as the last of them: long tasks
// get one each.
func (l *loop) take(batch []*sarama.ConsumerMessage) {
	if l.first {
		l.setAside(batch)
		l.beginAside()
		return
	}
	batch = l.deliver(batch)
	l.start(batch)
	l.tryAwaited()
	if len(batch) == 0 && l.account.dirty { // nothing to run, and the commit may go on past what is no longer there
		l.exchange()
	}
}

// start makes tasks of messages that have to be handled.
func (l *loop) start(batch []*sarama.ConsumerMessage) {
	if len(batch) == 0 {
		return
	}
	if !l.plan.CopyMessages {
		l.put(batch)
		return
	}
	for i := range batch {
		batch[i] = ownCopy(batch[i])
		l.put(batch[i : i+1])
	}
}

// deliver leaves out what was finished earlier, and keeps back what there is no room for in a commit's map.
func (l *loop) deliver(batch []*sarama.ConsumerMessage) []*sarama.ConsumerMessage {
	n := 0
	for i, m := range batch {
		if len(l.aside) > 0 || l.account.crowdedBy(m.Offset) {
			l.setAside(batch[i:])
			break
		}
		if l.accept(m) {
			batch[n] = m
			n++
		}
	}
	return batch[:n]
}

// accept says whether a message has to be handled.
func (l *loop) accept(m *sarama.ConsumerMessage) bool {
	if l.account.reset {
		l.afterReset(m.Offset)
	}
	fresh, mine := l.account.deliver(m.Offset)
	switch {
	case mine == nil:
		return fresh
	case sameMessage(m, mine):
		return false
	}
	l.disown(mine, m)
	return fresh
}

func (l *loop) put(batch []*sarama.ConsumerMessage) {
	l.bytes += l.lineup.prepare(batch, l.scope)
	l.backlog += len(batch)
	l.exchange()
}

// ownCopy gives a message memory of its own: key, value and headers are parts of the broker's whole answer, which a long task would
// keep alive.
func ownCopy(m *sarama.ConsumerMessage) *sarama.ConsumerMessage {
	c := *m
	c.Key, c.Value, c.Headers = bytes.Clone(m.Key), bytes.Clone(m.Value), slices.Clone(m.Headers)
	for i, h := range c.Headers {
		if h != nil {
			c.Headers[i] = &sarama.RecordHeader{Key: bytes.Clone(h.Key), Value: bytes.Clone(h.Value)}
		}
	}
	return &c
}
