package handler

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// cut is what a runner's next becomes when the rest of its run is taken back.
const cut = 1 << 30

// bunch is the length of a run below which its end need not be told to a claim loop that looks by itself.
const bunch = time.Millisecond

// runner is one slot at work: it takes a run of one claim's messages, calls the handler for each, and comes back for more.
// A run is up to 64 short tasks or a single long one. The fields without a comment belong to the pool's lock.
type runner struct {
	pool     *pool
	claim    *claim                 // whose run it is: adoption gives it another one, under the lock
	intake   context.Context        // of the claim that the run was taken from; the runner's own
	overdue  func() bool            // the same
	tasks    []Task                 // the run by partition: a piece of memory. Set under the lock, read by the runner
	items    [schedule.MaxRun]*item // the run otherwise, where tasks is nil. The same
	took     int32                  // how many were taken
	next     atomic.Int32           // how many of the run were started; the one field that others touch while the run goes on
	n        int32                  // how many of the run are still the runner's
	done     int32                  // how many are settled
	disowned bool                   // its task was adopted for a message that is another one now
	err      error                  // of the last task that was started, when it failed
	begin    time.Duration
	turn     time.Duration // since when it serves this claim

	before, after *runner // in the claim's list of active ones
}

func (r *runner) task(i int32) *Task {
	if r.tasks != nil {
		return &r.tasks[i]
	}
	return &r.items[i].Value
}

// loop is the runner's goroutine.
func (r *runner) loop() {
	clean := false
	defer func() {
		if !clean { // a handler called Goexit: slot and run pass over
			go r.loop() // ends as the one before it would have
		}
	}()
	for r.turnOver() {
		r.exec()
	}
	clean = true
}

// turnOver settles the run that has ended and takes the next one, in one hold of the lock. Without a next one the runner has been
// retired when it returns, and may already serve somebody else.
func (r *runner) turnOver() bool {
	p := r.pool
	now := p.now()
	var end ending
	var idle chan struct{}
	p.mu.Lock()
	ended := r.claim // adoption may have made it another one
	if ended == nil {
		p.starting--
	} else if end = r.finishLocked(now); end.stray != nil {
		p.mu.Unlock()
		ended.tellLate(end.stray) // before the next run is taken: a log may take its time
		p.mu.Lock()
		now = p.now()
	}
	taken, watch := r.takeLocked(now)
	if taken == nil {
		idle = p.retireLocked(r)
	}
	p.mu.Unlock()
	if end.wake {
		ended.signal()
	}
	if end.next != nil {
		end.next.signal()
	}
	if watch {
		taken.signal()
	}
	closeIf(idle)
	return taken != nil
}

// takeLocked takes the next run. watch says that the claim's loop has to look after it: a task of a longer run may last.
func (r *runner) takeLocked(now time.Duration) (c *claim, watch bool) {
	p, previous := r.pool, r.claim
	if r.tasks == nil {
		clear(r.items[:r.took])
	}
	r.claim, r.tasks, r.err, r.took, r.done, r.disowned = nil, nil, nil, 0, 0, false
	if c = p.nextLocked(previous, now-r.turn); c == nil {
		return nil, false
	}
	c.lineup.take(r, c.pace.Run(), p.shareLocked())
	r.claim, r.intake, r.overdue, r.took, r.begin = c, c.intake, c.overdue, r.n, now
	r.next.Store(0)
	if c != previous || now-r.turn >= schedule.Turn {
		r.turn = now
	}
	c.enlistLocked(r)
	watch = r.n > 1 && !c.watched
	c.watched = c.watched || watch
	p.readyLocked(c)
	return c, watch
}

// ending is who has to hear of the end of a run.
type ending struct {
	wake  bool   // the claim's loop
	next  *claim // that of the next claim, which has waited for this one's tasks
	stray *late  // what came too late
}

// finishLocked settles the run.
func (r *runner) finishLocked(now time.Duration) (end ending) {
	c := r.claim
	c.pace.Add(now-r.begin, int(r.n))
	if r.settleLocked(r.n) == Stray && c.tellsLocked(r) {
		end.stray = &late{task: r.task(r.n - 1), err: r.err, elapsed: now - r.begin}
	}
	c.dischargeLocked(r)
	if c.left {
		end.wake, end.next = true, r.pool.returnedLocked(c) // its loop may wait for its return
		return end
	}
	end.wake = r.wakesLocked(now)
	return end
}

// wakesLocked says whether the end of the run has to be told. It need not be when the loop looks by itself soon: the runs are short
// and more are ready, whose last one does wake it.
func (r *runner) wakesLocked(now time.Duration) bool {
	c := r.claim
	looks := c.watched && !c.hungry && now-r.begin < bunch && c.mayStartLocked()
	return c.closed || !looks && (c.ended.n > 0 || len(c.failed) > 0)
}

// settleLocked hands the results of the tasks up to one over to the claim.
func (r *runner) settleLocked(upTo int32) Outcome {
	if upTo <= r.done {
		return Succeeded
	}
	c, good := r.claim, upTo
	if r.disowned {
		return r.disownedLocked(upTo)
	}
	if r.err != nil && upTo == r.n {
		good--
	}
	c.landLocked(int(upTo - r.done))
	r.pool.counts.Started += int64(upTo - r.done)
	outcome := c.succeededLocked(r, r.done, good)
	if good < upTo {
		outcome = c.failedLocked(r, good)
	}
	r.done = upTo
	return outcome
}

// disownedLocked drops the result of a task that was adopted for a message which is another one now.
func (r *runner) disownedLocked(upTo int32) Outcome {
	c, n := r.claim, upTo-r.done
	c.landLocked(int(n))
	r.pool.counts.Started += int64(n)
	r.pool.counts.Strays += int64(n)
	c.wasteLocked(r)
	if !c.left {
		c.lineup.drop(r, r.done, upTo)
	}
	r.done = upTo
	return Stray
}

// cutLocked takes back what has not started: it goes to the front of the queue, or away when the claim is closed.
func (r *runner) cutLocked() {
	if started := r.next.Swap(cut); started < cut {
		r.takeBackLocked(min(started, r.n))
	}
}

func (r *runner) takeBackLocked(from int32) {
	c := r.claim
	if from >= r.n {
		return
	}
	if c.closed || r.disowned {
		c.lineup.forget(r, from)
	} else {
		c.lineup.putBack(r, from)
	}
	c.landLocked(int(r.n - from))
	r.n = from
}
