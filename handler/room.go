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

const (
	// lookAhead is how many messages a claim may hold, at least, where several of its tasks run at once: those of a busy key wait, and
	// other keys lie behind them.
	lookAhead = 10_000
	// overhead is what a message costs beside its key, value and headers, about.
	overhead = 256
	// defaultMemory is the default of [Options].BacklogBytes.
	defaultMemory = 256 << 20
)

// room keeps the backlog of a claim bounded: at the mark fetching pauses, and goes on when half is done.
type room struct {
	source   pauser // nil when the claim cannot be paused: then the loop stops receiving
	messages int
	bytes    int64
	load     load
	paused   bool

	ended int           // since at
	at    time.Duration // start of the measurement
	rate  int           // ended in 100 ms
}

// load is what counts for the bounds of a claim.
type load struct {
	messages int
	bytes    int64
	held     int  // messages, running ones included
	tight    bool // all claims together hold as much as they may
}

func (l *loop) newRoom(source pauser) room {
	r := room{source: source, messages: l.plan.BacklogMessages, bytes: l.plan.BacklogBytes}
	if l.pool.keys.order != ByPartition {
		r.messages = max(r.messages, lookAhead)
	}
	return r
}

// full says that fetching has to pause. One message is let in whatever its size, and one is in hand whatever the other claims hold: a
// bound must not keep a partition from being worked on.
func (r *room) full() bool {
	return r.load.messages >= r.messages || r.load.bytes >= r.bytes && r.load.messages > 1 || r.load.tight && r.load.held > 0
}

// low is the backlog at which fetching goes on: it has to last while a fetcher whose partitions are all paused naps for 100 ms
// (consumer.go, partitionConsumersBatchingDuration) and fetches.
func (r *room) low() bool {
	few := r.load.messages <= min(max(r.messages/2, 2*r.rate), r.messages-1)
	return !r.load.tight && (few && r.load.bytes < r.bytes/2 || r.load.messages <= 1) || r.load.held == 0
}

func (r *room) measure(ended int, now time.Duration) {
	r.ended += ended
	if d := now - r.at; d > 50*time.Millisecond {
		r.rate = int(int64(r.ended) * int64(100*time.Millisecond) / int64(d))
		r.ended, r.at = 0, now
	}
}

// batch is how many messages may be received in one go.
func (r *room) batch() int {
	if r.source != nil {
		return schedule.MaxRun
	}
	return min(max(r.messages-r.load.messages, 1), schedule.MaxRun)
}

// weighLocked takes stock of what the claim holds. What runs does not count where several tasks run at once: it is bounded by the slots.
func (l *loop) weighLocked() {
	if l.left {
		return // it counts for nothing any more
	}
	v, p := &l.view, l.pool
	p.addLocked(l.bytes - v.bytes + int64(l.backlog-v.backlog)*overhead)
	v.backlog, v.bytes = l.backlog, l.bytes
	l.room.load = load{messages: l.backlog, bytes: l.bytes - l.lineup.outBytes(), held: l.backlog, tight: p.tightLocked()}
	if p.keys.order != ByPartition {
		l.room.load.messages -= l.flight
	}
}

// unweighLocked takes what a claim holds out of the sum.
func (p *pool) unweighLocked(c *claim) { p.addLocked(-c.view.bytes - int64(c.view.backlog)*overhead) }

// addLocked changes what all claims hold together, and takes note when that is no more than it may be again.
func (p *pool) addLocked(bytes int64) {
	before := p.tightLocked()
	p.held += bytes
	p.roomAgain = p.roomAgain && !p.tightLocked() || before && !p.tightLocked()
}

func (p *pool) tightLocked() bool { return p.held > p.limits.memory }

// roomAgainLocked says, once, that claims which paused for what the others hold may go on: see tellPaused.
func (p *pool) roomAgainLocked() (yes bool) {
	yes, p.roomAgain = p.roomAgain, false
	return yes
}

// tellRoom tells the paused claims of room that did not come from a task's end: a claim has let go.
func (p *pool) tellRoom() {
	p.mu.Lock()
	yes := p.roomAgainLocked()
	p.mu.Unlock()
	if yes {
		p.tellPaused()
	}
}

// tellPaused makes the loops of paused claims look again.
func (p *pool) tellPaused() {
	var paused []*claim
	p.mu.Lock()
	for _, c := range p.claims {
		if c.view.paused {
			paused = append(paused, c)
		}
	}
	p.mu.Unlock()
	for _, c := range paused {
		c.signal()
	}
}

// carriesLocked is what the claim's running and failed tasks hold.
func (c *claim) carriesLocked() (n int, bytes int64) {
	for r := c.active; r != nil; r = r.after {
		for i := r.done; i < r.n; i++ {
			n, bytes = n+1, bytes+int64(r.task(i).size)
		}
	}
	for _, f := range c.failed {
		n, bytes = n+1, bytes+int64(f.task.size)
	}
	return n, bytes
}

// makeRoom pauses or resumes by the backlog.
func (l *loop) makeRoom() {
	switch r := &l.room; {
	case !l.open: // the source is let go
	case !r.paused && (r.full() || l.crowded()):
		l.pause(true)
	case r.paused && r.low() && len(l.aside) == 0:
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
