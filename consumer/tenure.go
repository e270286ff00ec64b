package consumer

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// tenure is the time of this member under one member id, over any number of sessions. Its tasks run under it: they outlive a session
// when their partition comes back, and none outlives the tenure.
type tenure struct {
	m          *membership
	memberID   string
	work       context.Context // parent of the tasks' contexts
	stopWork   context.CancelCauseFunc
	lease      *leaseKeeper
	generation atomic.Int32 // of the latest assignment
	over       atomic.Bool
	kept       func() int // what goes on between two claims: tasks, and commits without an answer

	hurry   chan struct{} // closed when others wait for the member, which stops
	hurried sync.Once

	mu      sync.Mutex
	session *session  // that goes on now, nil between two
	since   time.Time // since when there is none
}

func newTenure(m *membership, memberID string, generation int32, c coordinator) *tenure {
	t := &tenure{m: m, memberID: memberID, hurry: make(chan struct{}), kept: m.kept}
	t.generation.Store(generation)
	t.work, t.stopWork = context.WithCancelCause(context.Background())
	t.lease = newLeaseKeeper(t, c)
	return t
}

// tenureOf returns the tenure that a session belongs to: the one there is, or a new one.
func (m *membership) tenureOf(memberID string, generation int32) *tenure {
	m.mu.Lock()
	before := m.tenure
	same := before != nil && before.memberID == memberID && !before.over.Load()
	if !same {
		m.tenure = newTenure(m, memberID, generation, m)
	}
	t := m.tenure
	m.mu.Unlock()
	if same {
		return t
	}
	before.end(errNewMember)
	t.lease.start()
	return t
}

func (m *membership) kept() int { return m.tasks.Status().Kept + m.commits.Unanswered() }

// errNewMember is the cause of tasks that ran for the member that this one was before.
var errNewMember = fmt.Errorf("%w: the broker has made a new member of this one", handler.ErrLost)

// currentTenure is nil before the first session, and over a ConsumerGroup of the user.
func (m *membership) currentTenure() *tenure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tenure
}

// end stops the heartbeats, and the tasks that still run. t may be nil.
func (t *tenure) end(cause error) {
	if t == nil {
		return
	}
	t.over.Store(true)
	t.stopWork(cause)
	t.lease.stop()
}

func (t *tenure) enter(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = s
}

func (t *tenure) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session, t.since = nil, time.Now()
}

func (t *tenure) live() *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session
}

// latest is the generation of the latest assignment. One of zero bytes is told to the session alone, see [session.generation].
func (t *tenure) latest() int32 {
	if s := t.live(); s != nil {
		return max(t.generation.Load(), s.generation())
	}
	return t.generation.Load()
}

// wanted says that heartbeats are worth sending: a session goes on, or there is something that the next one may take over. A member that does
// not try to join within the rebalance timeout gives its partitions up by falling silent; a join or a sync that is out may take longer, for
// it waits for the slowest member, or for the leader.
func (t *tenure) wanted(out bool) bool {
	t.mu.Lock()
	session, since := t.session, t.since
	t.mu.Unlock()
	return session != nil || (out || time.Since(since) < t.m.plan.RebalanceTimeout) && t.kept() > 0
}

// assigned hears an assignment, in a session or before the next one.
func (t *tenure) assigned(generation int32) {
	t.generation.Store(generation)
	t.lease.assigned()
}

// othersWait hears that the group rebalances while no join of ours is out. Nobody else would tell a member that stops: sarama's session
// has ended for it, and its tasks would hold the round up for as long as the grace of the stop.
func (t *tenure) othersWait() {
	if over(t.m.run) && t.m.willDrain() {
		return // it joins with them
	}
	if t.m.watched.is(StateStopping) {
		t.hurried.Do(func() { close(t.hurry) })
	}
}

// lose cancels all tasks and ends the session, once. Log and hooks come after: the tasks must not wait for them.
func (t *tenure) lose(cause *LeaseError) {
	if t.over.Swap(true) {
		return
	}
	running, session := t.m.tasks.Status().Running, t.live()
	t.stopWork(cause)
	if session != nil {
		session.round.lose(cause)
	}
	if session == nil && running == 0 {
		return // nobody has been waiting for it
	}
	t.m.log.LogAttrs(context.Background(), slog.LevelWarn, "membership lost or in doubt: running tasks are cancelled, and the member joins again",
		slog.Int("running", running), slog.Any("cause", cause.Err), slog.Duration("silence", cause.Silence))
	t.m.hooks.failed(cause)
}

// dismiss ends the tasks that run without a session when the member stops: they get the grace of a stop, and have returned as a rule
// before the member leaves.
func (m *membership) dismiss() {
	t := m.currentTenure()
	if t == nil {
		return
	}
	if m.tasks.Status().Kept > 0 {
		m.waitForKept(t)
	}
	t.end(handler.ErrDraining)
	ctx, cancel := context.WithTimeout(context.Background(), lastReleases)
	defer cancel()
	m.commits.AwaitReleases(ctx)
}

// lastReleases is how long claims without a session may take to let go: tasks have a second to return when their contexts have ended, and
// the last commit 0.7 s.
const lastReleases = 2 * time.Second

func (m *membership) waitForKept(t *tenure) {
	if m.plan.StopCancelFirst {
		t.stopWork(handler.ErrDraining)
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.stopGrace())
	var hurry sync.WaitGroup
	hurry.Go(func() { // ends with ctx
		select {
		case <-t.hurry:
			_ = link.Sleep(ctx, m.plan.Grace)
			cancel()
		case <-ctx.Done():
		}
	})
	_ = m.tasks.Wait(ctx)
	cancel()
	hurry.Wait()
}
