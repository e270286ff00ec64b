package handler_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// G5, B14: the result of a task that was given up is counted, logged and dropped, and the task holds its partition until it returns.
func TestResultAfterLossIsCountedLoggedAndDropped(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g, first := newGroupWithStray(t, p, deaf(time.Hour))
		if st := g.Status(); st.Stray != 1 || st.Running != 1 || st.Abandoned != 1 || st.Strays != 0 {
			t.Errorf("status %+v", st)
		}
		g.assign(0)
		c := newClaim(0, 3)
		done := g.consume(c)
		time.Sleep(time.Minute)
		g.wantStarted(0)
		if st := g.Status(); len(st.Claims) != 1 || !st.Claims[0].Blocked {
			t.Errorf("status %+v, want a blocked claim", st)
		}
		time.Sleep(time.Hour)
		g.wantStarted(0, 0, 1, 2)
		if st := g.Status(); st.Strays != 1 || st.Running != 0 || st.Claims[0].Blocked {
			t.Errorf("status %+v", st)
		}
		if got := first.committed(0); got != 0 {
			t.Errorf("the stray committed %d", got)
		}
		if lines := g.logs.with("level=INFO", "given up has returned", "offset=0", "partition=0"); len(lines) != 1 {
			t.Errorf("%d entries about the late result, want 1", len(lines))
		}
		g.s.cancel(nil)
		<-done
	})
}

// newGroupWithStray returns a group whose first task was given up, in a new session, and the session before. Only that task is h's.
func newGroupWithStray(t *testing.T, p protocol, h handler.Func) (g *group, before *session) {
	g = newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
		if g.seen.count() == 1 {
			return h(ctx, m)
		}
		return nil
	})
	c := newClaim(0, 3)
	done := g.consume(c)
	time.Sleep(time.Minute)
	p.revoke(g, c)
	<-done
	before = g.s
	g.s = newSession()
	g.s.generation = before.next()
	return g, before
}

// A partition that goes and comes back several times while a stray runs waits for it each time, and the last claim gets to work.
func TestStrayBlocksEachClaimOfItsPartition(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g, _ := newGroupWithStray(t, p, deaf(time.Hour))
		for range 3 {
			c := newClaim(0, 3)
			done := g.consume(c)
			time.Sleep(time.Minute)
			took := elapsed(func() { p.revoke(g, c); <-done })
			if took != 0 {
				t.Errorf("a blocked claim ended after %v", took)
			}
			g.s = newSessionWith(g.s)
		}
		g.wantStarted(0)
		done := g.consume(newClaim(0, 3))
		time.Sleep(time.Hour)
		g.wantStarted(0, 0, 1, 2)
		g.s.cancel(nil)
		<-done
	})
}

// The stray may return while no claim, or only one that has ended, waits for it.
func TestStrayThatReturnsBetweenClaimsBlocksNothing(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g, _ := newGroupWithStray(t, p, deaf(time.Hour))
		c := newClaim(0, 3)
		done := g.consume(c)
		time.Sleep(time.Minute)
		p.revoke(g, c)
		<-done
		time.Sleep(time.Hour)
		g.s = newSessionWith(g.s)
		done = g.consume(newClaim(0, 3))
		time.Sleep(time.Minute)
		g.wantStarted(0, 0, 1, 2)
		g.s.cancel(nil)
		<-done
	})
}

// A task that ends while the last commit is awaited has ended too late: it is not counted as a success that nobody commits.
func TestTaskThatEndsDuringTheLastCommitIsAStray(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var outcomes taskEnds
		o := options(t)
		o.Hooks = []any{&outcomes}
		g := newGroup(t, o, deaf(time.Minute+200*time.Millisecond))
		m := newMemberSession()
		m.release = func(context.Context) { time.Sleep(500 * time.Millisecond) }
		done := g.consumeIn(m, newClaim(0, 1))
		time.Sleep(time.Minute)
		eager.revoke(&group{s: m.session}, nil)
		<-done
		if st := g.Status(); st.Succeeded != 0 || st.Strays != 1 || st.Abandoned != 1 {
			t.Errorf("status %+v, want a stray", st.Counts)
		}
		if got := outcomes.of(0); len(got) != 1 || got[0] != handler.Stray {
			t.Errorf("the hooks heard %v, want stray", got)
		}
		if got := m.committed(0); got != 0 {
			t.Errorf("committed %d", got)
		}
	})
}

// A stubborn task keeps its slot, so that with one slot nothing else runs beside it.
func TestStrayKeepsItsSlot(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		o := options(t)
		o.Slots = 1
		g := newGroup(t, o, deaf(time.Hour))
		c := newClaim(0, 1)
		done := g.consume(c)
		time.Sleep(time.Minute)
		p.revoke(g, c)
		<-done
		g.s = newSessionWith(g.s)
		done = g.consume(newClaim(7, 1))
		time.Sleep(time.Minute)
		if got := g.seen.count(); got != 1 {
			t.Errorf("%d started beside the stray", got-1)
		}
		time.Sleep(2 * time.Hour)
		g.wantCommitted(7, 1)
		g.s.cancel(nil)
		<-done
	})
}

// Wait returns when the last stray has, and not before.
func TestWaitWaitsForStrays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g, _ := newGroupWithStray(t, eager, deaf(time.Hour))
		short, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errTask)
		defer cancel()
		if err := g.Wait(short); !errors.Is(err, errTask) {
			t.Errorf("Wait: %v, want the cause of its context", err)
		}
		took := elapsed(func() {
			if err := g.Wait(t.Context()); err != nil {
				t.Errorf("Wait: %v", err)
			}
		})
		if took != time.Hour-2*time.Minute-25*time.Millisecond {
			t.Errorf("Wait took %v", took)
		}
		if took := elapsed(func() { _ = g.Wait(t.Context()) }); took != 0 {
			t.Errorf("Wait of an idle handler took %v", took)
		}
	})
}

// What a handler leaves behind is told by its context that the task has ended, however it did.
func TestContextEndsWithItsTask(t *testing.T) {
	for _, o := range []handler.Options{options(t), short(t)} {
		for _, hooks := range [][]any{nil, {&taskEnds{}}} {
			inVirtualTime(t, func(t *testing.T) {
				o.Hooks = hooks
				var left sync.WaitGroup
				var g *group
				g = newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
					if g.seen.count() > 8 {
						return nil // tried again
					}
					left.Go(func() {
						if m.Offset%2 == 0 {
							time.Sleep(time.Millisecond) // asks for the channel after the end
						}
						<-ctx.Done()
					})
					switch m.Offset {
					case 1, 2:
						return errTask
					case 3, 4:
						panic("boom")
					case 5, 6:
						runtime.Goexit()
					}
					return nil
				})
				g.consume(newClaim(0, 7))
				time.Sleep(time.Hour)
				left.Wait() // else a deadlock
				g.end()
			})
		}
	}
}

// Wait may be called at any time, also while tasks start and end.
func TestWaitWhileTasksStart(t *testing.T) {
	g := newGroup(t, short(t), nothing)
	c := newClaim(0, 0)
	done := g.consume(c)
	for i := range 2000 {
		c.put(i, i+1)
		if err := g.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	g.s.cancel(nil)
	<-done
}

// A lease that ends cancels tasks and stops starts even while the claim's loop is at something else.
func TestLeaseThatEndsCancelsAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		m := newMemberSession()
		var cancelled time.Time
		g := newGroup(t, with(t, config.Input{Expected: time.Minute, Grace: time.Minute}), func(ctx context.Context, task *handler.Task) error {
			if task.Offset == 0 {
				return nil
			}
			<-ctx.Done()
			cancelled = time.Now()
			return ctx.Err()
		})
		m.onMark = func() { time.Sleep(time.Second) } // the loop is at a commit
		done := g.consumeIn(m, newClaim(0, 5))
		synctest.Wait()
		lost := time.Now()
		m.stopWork(errTask)
		<-done
		if d := cancelled.Sub(lost); d != 0 {
			t.Errorf("cancelled %v after the lease had ended", d)
		}
		g.wantStarted(0, 1)
	})
}
