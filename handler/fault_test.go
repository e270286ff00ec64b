package handler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// faults are what a handler may do to its goroutine.
var faults = map[string]func(){
	"string":    func() { panic("boom") },
	"error":     func() { panic(errTask) },
	"nil":       func() { var p *int; *p = 1 },
	"index":     func() { _ = []int{}[len(protocols)] },
	"panic nil": func() { panic(nil) },
	"goexit":    runtime.Goexit,
	"goexit in a panic": func() {
		defer runtime.Goexit()
		panic("boom")
	},
	"panic in a goexit": func() {
		defer func() { panic("boom") }()
		runtime.Goexit()
	},
}

// G7, B17: neither a panic nor a Goexit takes down the process or another task: the message is tried again.
func TestFaultyTaskTakesNothingDown(t *testing.T) {
	for name, fault := range faults {
		for _, hooks := range [][]any{nil, {&taskEnds{}}} {
			t.Run(fmt.Sprintf("%s, hooks %d", name, len(hooks)), func(t *testing.T) {
				eachProtocol(t, func(t *testing.T, p protocol) { checkFault(t, p, fault, hooks) })
			})
		}
	}
}

func checkFault(t *testing.T, p protocol, fault func(), hooks []any) {
	o := options(t)
	o.Slots, o.Hooks = 2, hooks
	faulty := 0
	g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
		switch {
		case m.Partition == 1:
			return obedient(time.Hour)(ctx, m)
		case m.Offset == 5 && faulty < 2:
			faulty++
			fault()
		}
		return nil
	})
	c := newClaim(0, 10)
	g.consume(newClaim(1, 1))
	done := g.consume(c)
	time.Sleep(2 * time.Hour)
	g.wantCommitted(0, 10)
	g.wantCommitted(1, 1)
	if st := g.Status(); st.Started != 13 || st.Failed != 2 || st.Succeeded != 11 || st.Running != 0 {
		t.Errorf("status %+v", st.Counts)
	}
	if lines := g.logs.with("task failed", "offset=5", "partition=0"); len(lines) != 2 {
		t.Errorf("%d entries, want one an attempt", len(lines))
	}
	p.revoke(g, c)
	<-done
	g.end()
}

// B17: a panic is logged with its stack, once an attempt, and counted, whatever becomes of its task.
func TestPanicIsToldWithItsStack(t *testing.T) {
	for _, test := range []struct {
		name    string
		panics  time.Duration // after the revocation
		outcome handler.Outcome
	}{
		{"failed", -30 * time.Second, handler.Failed},
		{"cancelled", 10 * time.Millisecond, handler.Cancelled},
		{"stray", time.Hour, handler.Stray},
	} {
		for _, hooked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, hooks %v", test.name, hooked), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T) {
					var outcomes taskEnds
					o := options(t)
					o.Retry.Initial, o.Retry.Max = time.Hour, time.Hour
					if hooked {
						o.Hooks = []any{&outcomes}
					}
					g := newGroup(t, o, func(context.Context, *handler.Task) error {
						time.Sleep(time.Minute + test.panics)
						panicHere()
						return nil
					})
					done := g.consume(newClaim(0, 2))
					time.Sleep(time.Minute)
					eager.revoke(g, nil)
					<-done
					time.Sleep(2 * time.Hour)
					if lines := g.logs.with("level=ERROR", "panicHere", "offset=0"); len(lines) != 1 {
						t.Errorf("%d entries with the stack, want 1", len(lines))
					}
					if n := g.Status().Panicked; n != 1 {
						t.Errorf("%d panics counted", n)
					}
					if got := outcomes.of(0); hooked && (len(got) != 1 || got[0] != test.outcome) {
						t.Errorf("the hooks heard %v, want %v", got, test.outcome)
					}
				})
			})
		}
	}
}

func panicHere() { panic(errTask) }

func TestPanicErrorHasValueAndStack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var outcomes taskEnds
		o := options(t)
		o.Hooks = []any{&outcomes}
		g := newGroup(t, o, func(context.Context, *handler.Task) error { panicHere(); return nil })
		done := g.consume(newClaim(0, 1))
		time.Sleep(time.Millisecond)
		g.s.cancel(nil)
		<-done
		var p *handler.PanicError
		err := outcomes.all()[0].Err
		if !errors.As(err, &p) || !errors.Is(err, errTask) {
			t.Fatalf("error %v, want a PanicError of %v", err, errTask)
		}
		if value, ok := p.Value.(error); !ok || !errors.Is(value, errTask) {
			t.Errorf("value %v", p.Value)
		}
		if err.Error() != "panic: the task failed" || len(p.StackTrace()) == 0 {
			t.Errorf("error %q with a stack of %d", err, len(p.StackTrace()))
		}
		if text := fmt.Sprintf("%+v", err); !strings.Contains(text, "panicHere") {
			t.Errorf("%%+v has no stack: %s", text)
		}
		if text := fmt.Sprintf("%v %q", err, err); text != `panic: the task failed "panic: the task failed"` {
			t.Errorf("formatted as %s", text)
		}
	})
}

// hang_neighbours: a task that hangs in the middle of short ones does not keep them from being committed, nor its claim from ending.
func TestHangDelaysNoNeighbour(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		hang := make(chan struct{})
		g := newGroup(t, short(t), func(_ context.Context, m *handler.Task) error {
			if m.Partition == 0 && m.Offset == 500 {
				<-hang
			}
			return nil
		})
		c, other := newClaim(0, 1000), newClaim(1, 1000)
		done, otherDone := g.consume(c), g.consume(other)
		time.Sleep(g.commitInterval(t) + 50*time.Millisecond)
		g.wantCommitted(0, 500)
		g.wantCommitted(1, 1000)
		if took := elapsed(func() { p.revoke(g, c); <-done }); took > 50*time.Millisecond {
			t.Errorf("the claim ended after %v", took)
		}
		close(hang)
		g.s.cancel(nil)
		<-otherDone
	})
}

// What was queued behind a hang, and in one bunch with it, is handled in order once it is over.
func TestHangIsOvercome(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, short(t), func(_ context.Context, m *handler.Task) error {
			if m.Offset%100 == 7 {
				time.Sleep(time.Second)
			}
			return nil
		})
		g.consume(newClaim(0, 1000))
		time.Sleep(15 * time.Second)
		g.wantCommitted(0, 1000)
		if got := g.seen.all(); len(got) != 1000 || !slices.IsSorted(got) {
			t.Errorf("%d started, in order: %v", len(got), slices.IsSorted(got))
		}
		g.end()
	})
}

// What is finished at a revocation is committed before the grace is waited for, also where no runner has told of it yet.
func TestResultsComeBeforeTheGrace(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		const last = 299
		g := newGroup(t, with(t, config.Input{Expected: time.Millisecond, Grace: time.Minute}), func(ctx context.Context, m *handler.Task) error {
			if m.Offset == last {
				return obedient(time.Hour)(ctx, m)
			}
			return nil
		})
		c := newClaim(0, last+1)
		done := g.consume(c)
		time.Sleep(5 * time.Millisecond)
		p.revoke(g, c)
		time.Sleep(time.Millisecond)
		g.wantCommitted(0, last)
		<-done
	})
}

func (g *group) commitInterval(t *testing.T) time.Duration {
	return plan(t, config.Input{Expected: time.Millisecond}).CommitInterval
}
