package handler

import (
	"bytes"
	"context"
	"log/slog"
	"slices"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// receive takes a message and whatever lies behind it in the channel, in one go.
func (l *loop) receive(m *sarama.ConsumerMessage, ok bool) {
	var batch [schedule.MaxRun]*sarama.ConsumerMessage
	n := 0
	for ok && m != nil {
		batch[n] = m
		if n++; n == len(batch) {
			break
		}
		select {
		case m, ok = <-l.messages:
		default:
			m = nil
		}
	}
	if !ok || l.intake.Err() != nil { // revoked: what came with it does not start
		l.open = false
	} else if n > 0 {
		l.take(batch[:n])
	}
}

// take makes tasks of messages. Those of one batch lie in one piece of memory, which lives as long as the last of them: long tasks
// get one each.
func (l *loop) take(batch []*sarama.ConsumerMessage) {
	if l.first {
		l.first = false
		l.begin(batch[0])
	}
	if !l.plan.CopyMessages {
		l.exchange(l.tasks(batch))
		return
	}
	for i := range batch {
		l.exchange(l.tasks(batch[i : i+1]))
	}
}

func (l *loop) tasks(batch []*sarama.ConsumerMessage) []Task {
	slab := make([]Task, len(batch))
	for i, m := range batch {
		if l.plan.CopyMessages {
			m = ownCopy(m)
		}
		slab[i].prepare(m, 1, l.scope)
		l.bytes += int64(slab[i].size)
	}
	l.backlog += len(slab)
	return slab
}

// begin looks at where the partition starts. A group without a commit there commits its start: a member that dies in its first
// task must not leave the choice to the next one's Offsets.Initial. A commit that lies elsewhere than what there is means lost
// messages.
func (l *loop) begin(m *sarama.ConsumerMessage) {
	if l.source.InitialOffset() >= 0 {
		return
	}
	select {
	case c := <-l.pool.aside(l.committer.Committed):
		if c >= 0 && c != m.Offset {
			l.tellGap(c, m.Offset)
		}
		l.commit(m.Offset, l.pool.now())
	case <-l.intake.Done(): // the answer may take longer than a revoked claim has
	}
}

func (l *loop) tellGap(committed, first int64) {
	l.logger.LogAttrs(context.Background(), slog.LevelWarn,
		"the committed offset no longer exists on the partition: going on at the first message there is",
		attrCommitted(committed), attrOffset(first), attrMissed(max(0, first-committed)))
	l.pool.hooks.missed(Gap{Claim: l.key, Committed: committed, First: first})
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
