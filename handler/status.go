package handler

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/span"
)

// Counts add up since the handler was made, and never fall. When nothing runs, Started is the sum of Succeeded, Failed, Cancelled and
// Strays.
type Counts struct {
	Started   int64 `json:"started"`   // handler calls
	Succeeded int64 `json:"succeeded"` // handler calls that returned nil; they count for the commit
	Failed    int64 `json:"failed"`    // errors, panics and Goexits before a cancellation
	Panicked  int64 `json:"panicked"`  // panics, whatever became of the task: they are failed, cancelled or strays too
	Cancelled int64 `json:"cancelled"` // returned an error soon after their context was cancelled, see [Cancelled]
	Strays    int64 `json:"strays"`    // ended after their partition was given up; their results were dropped
	Abandoned int64 `json:"abandoned"` // had not returned in the time that a cancelled task has, so that their partition was given up
	// WastedSeconds are the task-seconds that were thrown away: of handler calls that were cancelled, or whose results were dropped.
	WastedSeconds float64 `json:"wasted_task_seconds"`
}

// Status is a snapshot of a [GroupHandler]. It makes JSON for people and dashboards, which is not meant to be read back: durations are
// text, such as "1m30s".
type Status struct {
	Counts
	Running int           `json:"running"` // tasks that run now, strays included
	Stray   int           `json:"stray"`   // of them, those of partitions that were given up
	Kept    int           `json:"kept"`    // of them, those that go on between two claims of their partition
	Claims  []ClaimStatus `json:"claims"`  // by topic and partition
	// Holding are the tasks for which partitions wait that are to go to other members, by topic and partition: of each its oldest.
	Holding []Holding `json:"holding,omitempty"`
}

// Holding is a partition that is to go to another member, and waits for a task.
type Holding struct {
	Claim
	Task RunningTask `json:"task"` // the oldest there
}

// ClaimStatus is a snapshot of one claimed partition.
type ClaimStatus struct {
	Claim
	Age      time.Duration `json:"age"`      // since the claim started
	Backlog  int           `json:"backlog"`  // messages received and not finished, running ones included
	Bytes    int64         `json:"bytes"`    // of the backlog
	Paused   bool          `json:"paused"`   // fetching is paused until the backlog is shorter
	Finished int64         `json:"finished"` // offset after the last finished task of this claim, -1 as long as there is none
	// Lag is how many offsets lie between the next one to be finished and the partition's high water mark: messages that wait or
	// run, and the holes that compaction and transactions leave between them. sarama learns the high water mark when a claim starts
	// and with each fetch that brings messages, so the lag is too low by what was produced since, while the claim is paused above all.
	// -1 as long as it is not known where the claim begins: its group has no offset there, and no message has come.
	Lag      int64 `json:"lag"`
	Retrying bool  `json:"retrying"` // failed tasks wait for their next attempt
	Blocked  bool  `json:"blocked"`  // a task that was given up with an earlier claim still runs, and nothing starts before it returns
	// HandingOver says that the partition is to go to another member: nothing starts, and it moves when its tasks have ended.
	HandingOver bool          `json:"handing_over"`
	Tasks       []RunningTask `json:"tasks,omitempty"` // those that run now, by offset
}

// MarshalJSON implements json.Marshaler: the age is text.
func (s ClaimStatus) MarshalJSON() ([]byte, error) {
	type plain ClaimStatus
	return json.Marshal(struct {
		plain
		Age string `json:"age"`
	}{plain(s), span.Text(s.Age.Round(time.Millisecond))})
}

// RunningTask is a task that runs now.
type RunningTask struct {
	Offset  int64         `json:"offset"`  // of its message
	Attempt int           `json:"attempt"` // 1 for the first in this claim; a task that was taken over keeps its number
	Age     time.Duration `json:"age"`     // of short tasks that run in bunches: since the bunch began, so up to 20 ms too much
}

// MarshalJSON implements json.Marshaler: the age is text.
func (t RunningTask) MarshalJSON() ([]byte, error) {
	type plain RunningTask
	return json.Marshal(struct {
		plain
		Age string `json:"age"`
	}{plain(t), span.Text(t.Age.Round(time.Millisecond))})
}

// Status returns a snapshot. It is cheap and may be called at any time, from any goroutine, a handler's own too. It asks each claim for
// its HighWaterMarkOffset, for which sarama has a number at hand.
func (g *GroupHandler) Status() Status {
	s, distances := g.pool.status()
	for i, d := range distances {
		s.Claims[i].Lag = d.lag()
	}
	slices.SortFunc(s.Claims, func(a, b ClaimStatus) int { return a.compare(b.Claim) })
	slices.SortFunc(s.Holding, func(a, b Holding) int { return a.compare(b.Claim) })
	return s
}

func (c Claim) compare(d Claim) int {
	return cmp.Or(cmp.Compare(c.Topic, d.Topic), cmp.Compare(c.Partition, d.Partition))
}

// distance is what the lag of a claim follows from. The high water mark is asked for without the pool's lock.
type distance struct {
	source sarama.ConsumerGroupClaim
	next   int64 // offset to be finished next, -1 as long as nobody knows
}

func (d distance) lag() int64 {
	if d.next < 0 {
		return -1
	}
	return max(d.source.HighWaterMarkOffset()-d.next, 0)
}

// status returns a snapshot and, for each of its claims, what the lag follows from.
func (p *pool) status() (s Status, distances []distance) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	s = Status{Counts: p.counts, Claims: make([]ClaimStatus, 0, len(p.claims))}
	for _, c := range p.claims {
		distances = append(distances, distance{c.source, max(c.view.start, c.finished.Load())})
		cs := c.statusLocked(now)
		s.Running += len(cs.Tasks)
		s.Started += c.startedLocked()
		s.Claims = append(s.Claims, cs)
	}
	for _, c := range p.strays {
		s.Stray += c.flight
		s.Started += c.startedLocked()
	}
	for _, c := range p.kept {
		s.Kept += c.flight
		s.Started += c.startedLocked()
	}
	s.Running += s.Stray + s.Kept
	s.Holding = p.holdingLocked(now)
	return s, distances
}

func (c *claim) statusLocked(now time.Duration) ClaimStatus {
	s := ClaimStatus{
		Claim: c.key, Age: now - c.view.since, Backlog: c.view.backlog, Bytes: c.view.bytes, Paused: c.view.paused,
		Finished: c.finished.Load(), Retrying: c.waiting+len(c.failed) > 0, Blocked: c.before != nil,
		HandingOver: c.goingLocked(),
	}
	for r := c.active; r != nil; r = r.after {
		if r.startedLocked() > 0 {
			s.Tasks = append(s.Tasks, r.runningLocked(now))
		}
	}
	slices.SortFunc(s.Tasks, func(a, b RunningTask) int { return cmp.Compare(a.Offset, b.Offset) })
	return s
}

// startedLocked returns how many tasks have started and are in no count yet.
func (c *claim) startedLocked() (n int64) {
	for r := c.active; r != nil; r = r.after {
		n += int64(r.startedLocked())
	}
	return n
}

// startedLocked returns how many tasks of the run have started and are not settled.
func (r *runner) startedLocked() int32 { return max(min(r.next.Load(), r.n)-r.done, 0) }

// runningLocked returns the task that the runner is at; it has started one.
func (r *runner) runningLocked(now time.Duration) RunningTask {
	t := r.task(min(r.next.Load(), r.n) - 1)
	return RunningTask{Offset: t.Offset, Attempt: int(t.attempt), Age: now - r.begin}
}
