package handler

import (
	"bytes"
	"context"
	"log/slog"
	"slices"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// receive takes a message and whatever lies behind it in the channel, in one go.
func (l *loop) receive(m *sarama.ConsumerMessage, ok bool) {
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
	if !ok { // revoked: what came with it does not start
		l.open = false
	} else if n > 0 {
		l.take(l.batch[:n])
	}
	clear(l.batch[:n])
}

// take makes tasks of messages. Those of one batch lie in one piece of memory, which lives as long as the last of them: long tasks
// get one each.
func (l *loop) take(batch []*sarama.ConsumerMessage) {
	if l.first {
		l.first = false
		l.begin(batch[0])
		l.follow()
	}
	if batch = l.skipDone(batch); len(batch) == 0 {
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

func (l *loop) put(batch []*sarama.ConsumerMessage) {
	l.bytes += l.lineup.prepare(batch, l.scope)
	l.backlog += len(batch)
	l.exchange()
}

// begin looks at where the partition starts, when sarama knew of no commit to start at. A group without a commit there commits its
// start: a member that dies in its first task must not leave the choice to the next one's Offsets.Initial. Where there is a commit
// after all, either it lies outside the log and messages are lost, or sarama was told wrong.
func (l *loop) begin(m *sarama.ConsumerMessage) {
	if l.source.InitialOffset() >= 0 {
		return
	}
	l.startsAt(m.Offset)
	committed := l.committer.Committed(l.intake)
	if l.intake.Err() != nil { // revoked meanwhile: -1 may say no more than that
		return
	}
	l.beginAt(committed, m.Offset)
}

// beginAt: a coordinator that has just taken over may say for a moment that nothing was committed, without an error (seen up to 1 s
// on Kafka 4.4). What lies before the commit is done then, and committing the start would forget it.
func (l *loop) beginAt(committed, first int64) {
	switch {
	case committed > first && committed <= l.source.HighWaterMarkOffset():
		l.logger.LogAttrs(context.Background(), slog.LevelInfo, "the commit of the partition was found late: going on there", attrCommitted(committed))
		l.doneBelow, l.finished, l.committed = committed, committed, committed
		l.startsAt(committed)
		return
	case committed >= 0 && committed != first:
		l.tellGap(committed, first)
	}
	l.commit(first, l.pool.now())
}

// startsAt is for those who look at the status.
func (l *loop) startsAt(offset int64) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.view.start = offset
}

// follow begins to keep account of what finishes beyond a task that goes on.
func (l *loop) follow() {
	if l.pool.keys.order != ByPartition {
		l.track = offset.New(l.finished, nil)
	}
}

// skipDone leaves out what was finished before the claim.
func (l *loop) skipDone(batch []*sarama.ConsumerMessage) []*sarama.ConsumerMessage {
	if l.track != nil {
		return slices.DeleteFunc(batch, func(m *sarama.ConsumerMessage) bool { return !l.track.Deliver(m.Offset) })
	}
	for len(batch) > 0 && batch[0].Offset < l.doneBelow {
		batch = batch[1:]
	}
	return batch
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
