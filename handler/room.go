package handler

import "time"

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
