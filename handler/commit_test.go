package handler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// soon is how long after its end a task is committed at most (G11).
const soon = 300 * time.Millisecond

// G11, B26: the end of a long task is committed at once, one commit for each.
func TestFinishedLongTaskIsCommittedAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), deaf(time.Minute))
		g.consume(newClaim(0, 3))
		for n := range int64(3) {
			time.Sleep(time.Minute)
			synctest.Wait()
			if n == 0 {
				g.wantCommitted(0, 1)
			}
			time.Sleep(10 * time.Millisecond)
			g.wantCommitted(0, n+1)
		}
		if g.s.commits != 3 {
			t.Errorf("the session was asked to commit %d times, want 3", g.s.commits)
		}
		g.end()
	})
}

// G11: commits of short tasks are batched, and still come soon, while a backlog keeps runners busy too.
func TestCommitsOfShortTasksAreBatched(t *testing.T) {
	for _, each := range []time.Duration{0, 200 * time.Microsecond, 2 * time.Millisecond} {
		t.Run(each.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				var ended starts
				g := newGroup(t, short(t), func(_ context.Context, m *handler.Task) error {
					time.Sleep(each)
					ended.add(m.Offset)
					return nil
				})
				g.consume(newClaim(0, 10_000))
				for range 10 {
					before := ended.count()
					time.Sleep(soon)
					if got := g.s.committed(0); got < int64(before) {
						t.Errorf("%d had ended %v ago, but %d is committed", before, soon, got)
					}
				}
				if n := len(g.s.marks); n > 16 {
					t.Errorf("%d commits in 3s, want one each 200ms", n)
				}
				g.end()
			})
		})
	}
}

// G11: they come soon also while the claim waits for a slot that another one's long task has.
func TestCommitDoesNotWaitForASlot(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := short(t)
		o.Slots = 1
		var g *group
		g = newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
			if m.Partition == 1 {
				return obedient(time.Hour)(ctx, m)
			}
			time.Sleep(200 * time.Microsecond)
			if m.Offset == 9 {
				g.consume(newClaim(1, 1))
				synctest.Wait() // it is next in turn
			}
			return nil
		})
		g.consume(newClaim(0, 100))
		time.Sleep(time.Minute)
		if got, started := g.s.committed(0), int64(g.seen.count()); started >= 100 || got != started-1 {
			t.Errorf("committed %d of the %d that have ended before the long task", got, started-1)
		}
		g.end()
	})
}

// A retry that is due before the next commit does not wait for it.
func TestRetryIsOnTimeWhileACommitIsDue(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := short(t)
		o.Retry.Initial, o.Retry.Max = 20*time.Millisecond, 20*time.Millisecond
		var failed, again time.Time
		g := newGroup(t, o, func(_ context.Context, m *handler.Task) error {
			time.Sleep(10 * time.Millisecond)
			switch {
			case m.Offset < 3:
				return nil
			case failed.IsZero():
				failed = time.Now()
				return errTask
			}
			again = time.Now().Add(-10 * time.Millisecond)
			return nil
		})
		g.consume(newClaim(0, 4))
		time.Sleep(time.Second)
		g.end()
		if d := again.Sub(failed); d < 10*time.Millisecond || d > 30*time.Millisecond {
			t.Errorf("tried again after %v, want 10 to 20ms and a moment", d)
		}
	})
}

// Over a plain session a commit of a long task is asked for apart from the claim, and asks that meet one under way become one more.
func TestSlowCommitHoldsUpNoTask(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, with(t, config.Input{Expected: time.Second}), deaf(time.Second))
		var committing atomic.Int32
		g.s.onCommit = func() {
			if committing.Add(1) > 1 {
				t.Error("two commits at once")
			}
			time.Sleep(5 * time.Second)
			committing.Add(-1)
		}
		g.consume(newClaim(0, 20))
		time.Sleep(20*time.Second + time.Millisecond)
		g.wantCommitted(0, 20)
		g.end()
		took := elapsed(func() {
			if err := g.Cleanup(g.s); err != nil {
				t.Errorf("Cleanup: %v", err)
			}
		})
		if g.s.commits != 5 || took > 10*time.Second {
			t.Errorf("%d commits, and Cleanup took %v; want 5, the last within 10s", g.s.commits, took)
		}
	})
}

// incomparable is a session inside a value that cannot be the key of a map.
type incomparable struct {
	*session
	_ map[string]string
}

// A session may be wrapped, in another way each time.
func TestWrappedSessionIsCommittedAndWaitedFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), nothing)
		g.s.onCommit = func() { time.Sleep(time.Second) }
		done := g.consumeIn(incomparable{session: g.s}, newClaim(0, 1))
		time.Sleep(100 * time.Millisecond)
		g.s.cancel(nil)
		<-done
		took := elapsed(func() { _ = g.Cleanup(incomparable{session: g.s}) })
		if g.s.commits != 1 || took.Round(100*time.Millisecond) != 900*time.Millisecond {
			t.Errorf("%d commits, and Cleanup took %v", g.s.commits, took)
		}
	})
}

// Short tasks leave the commit to sarama's own interval.
func TestShortTasksOnlyMark(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, short(t), nothing)
		g.consume(newClaim(0, 100))
		time.Sleep(time.Second)
		g.wantCommitted(0, 100)
		if g.s.commits != 0 {
			t.Errorf("the session was asked to commit %d times", g.s.commits)
		}
		g.end()
		_ = g.Cleanup(g.s)
	})
}
