package handler

import (
	"cmp"
	"slices"
	"time"
)

// Counts add up since the handler was made, and never fall. When nothing runs, Started is the sum of Succeeded, Failed, Cancelled and
// Strays.
type Counts struct {
	Started   int64 // handler calls
	Succeeded int64 // handler calls that returned nil; they count for the commit
	Failed    int64 // errors, panics and Goexits before a cancellation
	Panicked  int64 // panics, whatever became of the task: they are failed, cancelled or strays too
	Cancelled int64 // returned an error, or did not return, after their context was cancelled
	Strays    int64 // ended after their partition was given up; their results were dropped
	Abandoned int64 // still ran when their partition was given up
}

// Status is a snapshot of a [GroupHandler].
type Status struct {
	Counts
	Running int           // tasks that run now, strays included
	Stray   int           // of them, those of partitions that were given up
	Claims  []ClaimStatus // by topic and partition
}

// ClaimStatus is a snapshot of one claimed partition.
type ClaimStatus struct {
	Claim
	Age      time.Duration // since the claim started
	Backlog  int           // messages received and not finished, running ones included
	Bytes    int64         // of the backlog
	Paused   bool          // fetching is paused until the backlog is shorter
	Finished int64         // offset after the last finished task of this claim, -1 as long as there is none
	Retrying bool          // a failed task waits for its next attempt
	Blocked  bool          // a task that was given up with an earlier claim still runs, and nothing starts before it returns
	Task     *RunningTask  // nil when none runs
}

// RunningTask is a task that runs now.
type RunningTask struct {
	Offset  int64         // of its message
	Attempt int           // 1 for the first in this claim
	Age     time.Duration // of short tasks that run in bunches: since the bunch began, so up to 20 ms too much
}

// Status returns a snapshot. It is cheap and may be called at any time, from any goroutine, a handler's own too.
func (g *GroupHandler) Status() Status {
	s := g.pool.status()
	slices.SortFunc(s.Claims, func(a, b ClaimStatus) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return s
}

func (p *pool) status() Status {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{Counts: p.counts, Claims: make([]ClaimStatus, 0, len(p.claims))}
	for _, c := range p.claims {
		cs := c.statusLocked(now)
		if cs.Task != nil {
			s.Running++
		}
		s.Started += c.startedLocked()
		s.Claims = append(s.Claims, cs)
	}
	for _, c := range p.strays {
		s.Stray += c.flight
		s.Started += c.startedLocked()
	}
	s.Running += s.Stray
	return s
}

func (c *claim) statusLocked(now time.Duration) ClaimStatus {
	s := ClaimStatus{
		Claim: c.key, Age: now - c.view.since, Backlog: c.view.backlog, Bytes: c.view.bytes, Paused: c.view.paused,
		Finished: c.view.finished, Retrying: c.held, Blocked: c.before != nil,
	}
	if r := c.active; r != nil {
		s.Task = r.runningLocked(now)
	}
	return s
}

// startedLocked returns how many tasks have started and are in no count yet.
func (c *claim) startedLocked() int64 {
	if c.active == nil {
		return 0
	}
	return int64(c.active.startedLocked())
}

// startedLocked returns how many tasks of the run have started and are not settled.
func (r *runner) startedLocked() int32 { return max(min(r.next.Load(), r.n)-r.done, 0) }

// runningLocked returns the task that the runner is at, nil between two.
func (r *runner) runningLocked(now time.Duration) *RunningTask {
	if r.startedLocked() == 0 {
		return nil
	}
	t := &r.tasks[min(r.next.Load(), r.n)-1]
	return &RunningTask{Offset: t.Offset, Attempt: int(t.attempt), Age: now - r.begin}
}
