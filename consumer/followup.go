package consumer

import (
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// errHandOver ends a session in which a partition has become ready to move. It is a rebalance to the tasks: they go on.
const errHandOver = rejoin("the member asks for another round, for the leader has to hear of a partition: one that is to be handed over is idle, say, or a " +
	"task there past the hold limit")

// followUp asks for another round of the group: the one in which idle partitions move that were told to be handed over. It does so by joining
// again; under either protocol tasks go on, and what the member has is in its report.
type followUp struct {
	m *membership

	mu       sync.Mutex
	draining bool
	mistaken bool      // the leader takes the member for one that drains
	requests int64     // rounds asked for: a follower's join counts only with other data than before
	heard    time.Time // the latest assignment
	spacing  time.Duration
	stopped  bool
	timer    *time.Timer // nil until it is set for the first time
}

const (
	// another is how long to wait before another look, where a commit has no answer yet or the group rebalances.
	another = 50 * time.Millisecond
	// longestAnswer is how long a commit is waited for. Where it is refused the partition moves all the same: the next owner runs again what
	// is not stored, but it does run.
	longestAnswer = 10 * time.Second
)

// report completes what the leader is told. A member that the broker no longer knows has lost everything.
func (f *followUp) report(r *assign.Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Requests, r.Stamps, r.Draining = f.requests, f.m.commits != nil, f.draining
	if f.m.commits == nil {
		return // over a ConsumerGroup of the user nobody knows
	}
	if t := f.m.currentTenure(); t == nil || t.over.Load() {
		r.Generation, r.Owned, r.Marked, r.Busy, r.Over, r.Stuck = 0, nil, nil, nil, nil, nil
	}
	if f.m.alone && f.m.plan.HoldLimit > 0 {
		f.reportUnstored(r)
	}
}

// reportUnstored counts as busy what has ended and is not stored yet: the next owner would run it again.
func (f *followUp) reportUnstored(r *assign.Report) {
	for topic, list := range r.Owned {
		for _, partition := range list {
			if !f.stored(topic, partition) {
				r.Busy.Put(topic, partition)
			}
		}
	}
}

// assigned begins the time in which no round is asked for.
func (f *followUp) assigned() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard, f.spacing = time.Now(), strategy.Spacing(f.m.plan)
}

// told hears what the leader says. It takes a static member for one that drains that was killed in a drain and is back: without another
// round it would get nothing.
func (f *followUp) told(w strategy.Word) {
	f.mu.Lock()
	f.mistaken = w.Drained && !f.draining && f.m.commits != nil
	mistaken := f.mistaken
	f.mu.Unlock()
	if mistaken {
		f.nudge()
	}
}

// drain lets the leader know, with the next join, that the member stops.
func (f *followUp) drain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.draining = true
	f.requests++
}

func (f *followUp) isMistaken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mistaken
}

func (f *followUp) drains() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.draining
}

// nudge hears that there may be something to hand over.
func (f *followUp) nudge() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setLocked(f.spacing - time.Since(f.heard))
}

// again looks again in a moment.
func (f *followUp) again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setLocked(another)
}

func (f *followUp) setLocked(after time.Duration) {
	if f.stopped {
		return
	}
	if f.timer == nil {
		f.timer = time.AfterFunc(max(after, 0), f.look)
		return
	}
	f.timer.Reset(max(after, 0))
}

// look asks for a round if it is time.
func (f *followUp) look() {
	s, mistaken := f.m.liveSession(), f.isMistaken()
	ready, stored := f.handingOver()
	switch {
	case s == nil && mistaken:
		f.again() // in the session that is about to begin
	case s == nil || !ready && !mistaken:
		// Whoever joins says what it has; what has begun meanwhile tells its end.
	case f.waits(s, stored || mistaken):
	default:
		f.ask(s.round, errHandOver)
	}
}

// waits sets the next look where it is not time yet.
func (f *followUp) waits(s *session, stored bool) bool {
	joining := s.tenure.lease.coordinator.joining()
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := f.spacing - time.Since(f.heard)
	switch {
	case wait > 0:
	case joining, !stored:
		wait = another
	default:
		return false
	}
	f.setLocked(wait)
	return true
}

// handingOver says whether the leader has to hear of a partition, and whether that is so of one which waits for no commit.
func (f *followUp) handingOver() (ready, stored bool) {
	for _, h := range f.m.tasks.HandOvers() {
		ready, stored = true, stored || !h.Idle || f.stored(h.Topic, h.Partition)
	}
	return ready, stored
}

// stored says that nothing of a partition waits for an answer to a commit, or that it has done so for too long.
func (f *followUp) stored(topic string, partition int32) bool {
	d, waits := f.m.commits.Awaits(topic, partition)
	return !waits || d > longestAnswer
}

// ask ends the session of a round, so that the member joins again.
func (f *followUp) ask(r *round, cause error) {
	f.mu.Lock()
	f.requests++
	f.mu.Unlock()
	r.end(cause)
}

// stop ends the waiting.
func (f *followUp) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	if f.timer != nil {
		f.timer.Stop()
	}
}
