package consumer

import (
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// State is what a consumer is doing.
type State string

// States of a consumer.
const (
	StateNew        State = "new"        // Run has not been called
	StateConnecting State = "connecting" // no broker has named the group's coordinator yet
	StateJoining    State = "joining"    // not a member at the moment: it joins, or waits to try again
	StateMember     State = "member"     // it has an assignment
	StateStopping   State = "stopping"   // running tasks end, then the member leaves
	StateStopped    State = "stopped"    // Run has returned
)

// Status is a snapshot of a [Consumer]. It makes JSON for people and dashboards, which is not meant to be read back: durations are text,
// such as "1m30s", errors are their messages, and what has not been yet is left out.
type Status struct {
	State      State         `json:"state"`                  // what it does now
	Since      time.Time     `json:"since,omitzero"`         // of the state, zero before Run
	MemberID   string        `json:"member_id,omitempty"`    // the latest, "" before the first session
	Generation int32         `json:"generation"`             // of the latest assignment
	Rebalances int           `json:"rebalances"`             // assignments received
	Assigned   Partitions    `json:"assigned"`               // the latest
	Missing    []string      `json:"missing"`                // topics that do not exist, sorted; where this member leads the group, also those of other members
	Lease      time.Duration `json:"lease"`                  // how long tasks may go on without news from the coordinator; 0 without a lease
	LastEnd    *SessionEnd   `json:"last_end,omitempty"`     // of the session before, nil at first
	LastError  error         `json:"last_error,omitempty"`   // outside the tasks, nil when there was none
	LastErrAt  time.Time     `json:"last_error_at,omitzero"` // when LastError came
	Claims     []ClaimStatus `json:"claims"`                 // by topic and partition
	handler.Counts
	Running int `json:"running"` // tasks that run now
	Stray   int `json:"stray"`   // of them, those whose partition was given up
	Kept    int `json:"kept"`    // of them, those that go on while the member joins again
	// Holding are partitions that are to go to other members, each with the task that it waits for.
	Holding []handler.Holding `json:"holding,omitempty"`
}

// ClaimStatus is a snapshot of one claimed partition.
type ClaimStatus struct {
	handler.ClaimStatus
	// Committed is what the broker has confirmed in this claim, -1 as long as it has not. Over a ConsumerGroup of the user nobody
	// confirms, and it is the marked offset.
	Committed int64 `json:"committed"`
}

// Status returns a snapshot. It is cheap and may be called at any time, from any goroutine.
func (c *Consumer) Status() Status {
	s, m := c.watched.snapshot()
	s.Missing = m.missing()
	t := c.tasks.Load().Status()
	s.Counts, s.Running, s.Stray, s.Kept, s.Holding = t.Counts, t.Running, t.Stray, t.Kept, t.Holding
	for _, claim := range t.Claims {
		s.Claims = append(s.Claims, ClaimStatus{ClaimStatus: claim, Committed: m.stored(claim)})
	}
	if m != nil {
		if t := m.currentTenure(); t != nil && !t.over.Load() {
			s.Lease = max(t.lease.left(), 0)
		}
	}
	return s
}

// missing is what does not exist of the topics that this member subscribes to, or balances as the group's leader.
func (m *membership) missing() []string {
	if m == nil || m.link == nil {
		return nil
	}
	return m.link.Missing()
}

func (m *membership) stored(c handler.ClaimStatus) int64 {
	if m == nil || m.commits == nil {
		return c.Finished
	}
	return m.commits.Stored(c.Topic, c.Partition)
}

// watched is what others may know of a consumer.
type watched struct {
	mu         sync.Mutex
	state      State
	since      time.Time
	memberID   string
	generation int32
	rebalances int
	latest     Partitions
	told       int32 // generation of latest
	lastEnd    *SessionEnd
	lastError  error
	lastErrAt  time.Time
	joinedOnce bool
	membership *membership
}

func (w *watched) enter(s State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == StateStopping && s != StateStopped {
		return // a stop is final
	}
	w.state, w.since = s, time.Now()
}

func (w *watched) is(s State) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state == s
}

func (w *watched) of(m *membership) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.membership = m
}

func (w *watched) joined(memberID string, generation int32) {
	w.enter(StateMember)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.joinedOnce, w.memberID, w.generation = true, memberID, generation
}

// heard says that the assignment of a generation has been told.
func (w *watched) heard(generation int32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told == generation && w.latest != nil
}

func (w *watched) everJoined() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.joinedOnce
}

// assigned returns the assignment before.
func (w *watched) assigned(now Partitions, generation int32) (before Partitions) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, w.latest = w.latest, now.clone()
	w.generation, w.told = generation, generation
	w.rebalances++
	return before
}

func (w *watched) sessionEnded(e SessionEnd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastEnd = &e
}

func (w *watched) trouble(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastError, w.lastErrAt = err, time.Now()
}

func (w *watched) snapshot() (Status, *membership) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Status{
		State: w.state, Since: w.since, MemberID: w.memberID, Generation: w.generation, Rebalances: w.rebalances, Assigned: w.latest.clone(),
		LastEnd: w.lastEnd, LastError: w.lastError, LastErrAt: w.lastErrAt,
	}, w.membership
}
