package handler

import (
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// pauser is what sarama's claims offer (they embed their PartitionConsumer, consumer_group_session.go:554). Pausing the claim and
// not the group has no trap: a pause of the group outlives the session and would find the partition paused when it comes back.
type pauser interface {
	Pause()
	Resume()
}

// room keeps the backlog of a claim bounded: at the mark fetching pauses, and goes on when half is done.
type room struct {
	source   pauser // nil when the claim cannot be paused: then the loop stops receiving
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

// batch is how many messages may be received in one go.
func (r *room) batch(backlog int) int {
	if r.source != nil {
		return schedule.MaxRun
	}
	return min(max(r.messages-backlog, 1), schedule.MaxRun)
}

// makeRoom pauses or resumes by the backlog.
func (l *loop) makeRoom() {
	switch r := &l.room; {
	case !r.paused && r.full(l.backlog, l.bytes):
		l.pause(true)
	case r.paused && r.low(l.backlog, l.bytes):
		l.pause(false)
	}
}

func (l *loop) pause(on bool) {
	l.room.paused, l.resting = on, false
	l.pool.mu.Lock()
	l.hungry, l.view.paused = on, on
	l.pool.mu.Unlock()
	switch source := l.room.source; {
	case source == nil:
	case on:
		source.Pause()
	default:
		source.Resume()
	}
}

// input is what the loop receives from: always the messages, for that is how it hears of a revocation. Only where the claim is
// wrapped in something that cannot be paused it has to choose, and memory goes first: a revocation is then heard by the session or by
// the assignment, else when there is room.
func (l *loop) input() <-chan *sarama.ConsumerMessage {
	if l.room.source == nil && l.room.paused {
		return nil
	}
	return l.messages
}
