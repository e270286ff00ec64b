package handler

import (
	"bytes"
	"time"

	"github.com/IBM/sarama"
)

// receive takes a message and whatever lies behind it in the channel, in one go.
func (l *loop) receive(m *sarama.ConsumerMessage, ok bool) {
	n := 0
	for ok && m != nil {
		l.buf[n] = m
		if n++; n == len(l.buf) {
			break
		}
		select {
		case m, ok = <-l.messages:
		default:
			m = nil
		}
	}
	if !ok || l.session.Err() != nil { // revoked: what came with it does not start
		l.open = false
		return
	}
	if n > 0 {
		l.take(l.buf[:n])
	}
	clear(l.buf[:n])
}

// take makes tasks of messages; all of one batch lie in one piece of memory.
func (l *loop) take(batch []*sarama.ConsumerMessage) {
	if l.first {
		l.first = false
		l.begin(batch[0])
	}
	slab := make([]Task, len(batch))
	for i, m := range batch {
		if l.plan.CopyMessages {
			m = ownCopy(m)
		}
		slab[i].prepare(m, 1, l.scope)
		l.bytes += int64(slab[i].size)
	}
	l.backlog += len(slab)
	l.exchange(slab)
}

// begin looks at where the partition starts. A group without a commit there commits its start: a member that dies in its first
// task must not leave the choice to the next one's Offsets.Initial. A commit that lies below what there is means lost messages.
func (l *loop) begin(m *sarama.ConsumerMessage) {
	if l.source.InitialOffset() >= 0 {
		return
	}
	if c := l.committer.Committed(); c >= 0 && c != m.Offset {
		l.logger.Warn("the committed offset no longer exists on the partition: going on at the first message there is",
			attrCommitted(c), attrOffset(m.Offset), attrMissed(max(0, m.Offset-c)))
		l.pool.hooks.missed(Gap{Claim: l.key, Committed: c, First: m.Offset})
	}
	l.commit(m.Offset, l.pool.now())
}

// ownCopy gives a message memory of its own: Key and Value are parts of the broker's whole answer, which a long task would keep.
func ownCopy(m *sarama.ConsumerMessage) *sarama.ConsumerMessage {
	c := *m
	c.Key, c.Value = bytes.Clone(m.Key), bytes.Clone(m.Value)
	return &c
}

// pauser is what sarama's claims offer (they embed their PartitionConsumer, consumer_group_session.go:554). Pausing the claim and
// not the group has no trap: a pause of the group outlives the session and would find the partition paused when it comes back.
type pauser interface {
	Pause()
	Resume()
}

// room keeps the backlog of a claim bounded: at the mark fetching pauses, and goes on when half is done. A source that cannot
// pause is not bounded here.
type room struct {
	source   pauser
	messages int
	bytes    int64
	paused   bool

	ended int           // since at
	at    time.Duration // start of the measurement
	rate  int           // ended in 100 ms
}

func (r *room) full(messages int, bytes int64) bool {
	return messages >= r.messages || bytes >= r.bytes && messages > 1
}

// low is the backlog at which fetching goes on: it has to last while a fetcher whose partitions are all paused naps for 100 ms
// (consumer.go, partitionConsumersBatchingDuration) and fetches.
func (r *room) low(messages int, bytes int64) bool {
	return messages <= min(max(r.messages/2, 2*r.rate), r.messages-1) && bytes < r.bytes/2 || messages <= 1
}

func (r *room) measure(ended int, now time.Duration) {
	r.ended += ended
	if d := now - r.at; d > 50*time.Millisecond {
		r.rate = int(int64(r.ended) * int64(100*time.Millisecond) / int64(d))
		r.ended, r.at = 0, now
	}
}

// makeRoom pauses or resumes by the backlog.
func (l *loop) makeRoom() {
	r := &l.room
	switch {
	case r.source == nil:
	case !r.paused && r.full(l.backlog, l.bytes):
		l.pause(true)
		r.source.Pause()
	case r.paused && r.low(l.backlog, l.bytes):
		l.pause(false)
		r.source.Resume()
	}
}

func (l *loop) pause(on bool) {
	l.room.paused, l.resting = on, false
	l.pool.mu.Lock()
	l.hungry, l.view.paused = on, on
	l.pool.mu.Unlock()
}
