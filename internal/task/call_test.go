package task_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/task"
)

var errCause = errors.New("the cause")

type key struct{}

// begin returns a call and its scope, below a context with a value.
func begin() (*task.Call, *task.Scope) {
	s := task.NewScope(context.WithValue(context.Background(), key{}, "value"))
	c := new(task.Call)
	c.Begin(s)
	return c, s
}

func wantAlive(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Error("Done is closed")
	default:
	}
	if ctx.Err() != nil || context.Cause(ctx) != nil {
		t.Errorf("Err %v, Cause %v, want nil", ctx.Err(), context.Cause(ctx))
	}
}

func wantEnded(ctx context.Context, t *testing.T, cause error) {
	t.Helper()
	if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), cause) {
		t.Errorf("Err %v, Cause %v, want Canceled by %v", ctx.Err(), context.Cause(ctx), cause)
	}
	select {
	case <-ctx.Done():
	default:
		t.Error("Done is open")
	}
	if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), cause) {
		t.Errorf("after Done: Err %v, Cause %v, want Canceled by %v", ctx.Err(), context.Cause(ctx), cause)
	}
}

// A call is a context like any other, whether its channel is asked for before or after what ends it.
func TestCallIsAContext(t *testing.T) {
	ends := map[string]struct {
		end   func(*task.Call, *task.Scope)
		cause error
	}{
		"cancelled":           {func(_ *task.Call, s *task.Scope) { s.Cancel(errCause) }, errCause},
		"cancelled twice":     {func(_ *task.Call, s *task.Scope) { s.Cancel(errCause); s.Cancel(task.ErrEnded) }, errCause},
		"ended":               {func(c *task.Call, _ *task.Scope) { c.End() }, task.ErrEnded},
		"ended twice":         {func(c *task.Call, _ *task.Scope) { c.End(); c.End() }, task.ErrEnded},
		"ended and cancelled": {func(c *task.Call, s *task.Scope) { c.End(); s.Cancel(errCause) }, task.ErrEnded},
	}
	touches := map[string]func(*task.Call){
		"untouched":    func(*task.Call) {},
		"Done first":   func(c *task.Call) { _ = c.Done() },
		"Err first":    func(c *task.Call) { _ = c.Err() },
		"Cause first":  func(c *task.Call) { _ = context.Cause(c) },
		"Value first":  func(c *task.Call) { _ = c.Value(key{}) },
		"child before": func(c *task.Call) { _, cancel := context.WithCancel(c); cancel() },
	}
	for end, how := range ends {
		for touch, first := range touches {
			t.Run(end+", "+touch, func(t *testing.T) {
				c, s := begin()
				first(c)
				wantAlive(c, t)
				how.end(c, s)
				wantEnded(c, t, how.cause)
			})
			t.Run(end+", only "+touch, func(t *testing.T) { // without looking at Done while it lives
				c, s := begin()
				first(c)
				how.end(c, s)
				wantEnded(c, t, how.cause)
			})
		}
	}
}

// A cancelled call that has ended keeps the cause that its handler could see.
func TestFirstCauseStays(t *testing.T) {
	c, s := begin()
	<-func() <-chan struct{} { s.Cancel(errCause); return c.Done() }()
	c.End()
	wantEnded(c, t, errCause)
}

func TestDoneIsOneChannel(t *testing.T) {
	c, s := begin()
	before := c.Done()
	s.Cancel(errCause)
	c.End()
	if c.Done() != before {
		t.Error("Done has changed its channel")
	}
}

func TestEndOfOneCallIsNoMatterToAnother(t *testing.T) {
	a, s := begin()
	b := new(task.Call)
	b.Begin(s)
	_ = a.Done()
	a.End()
	wantAlive(b, t)
	b.End()
	c := new(task.Call)
	c.Begin(s)
	wantAlive(c, t)
}

func TestValuesAreThoseOfTheParent(t *testing.T) {
	for name, touch := range map[string]func(*task.Call, *task.Scope){
		"untouched": func(*task.Call, *task.Scope) {},
		"touched":   func(c *task.Call, _ *task.Scope) { _ = c.Done() },
		"ended":     func(c *task.Call, _ *task.Scope) { c.End() },
		"both":      func(c *task.Call, _ *task.Scope) { _ = c.Done(); c.End() },
		"cancelled": func(_ *task.Call, s *task.Scope) { s.Cancel(errCause) },
	} {
		c, s := begin()
		touch(c, s)
		if got := c.Value(key{}); got != "value" {
			t.Errorf("%s: value %v", name, got)
		}
		if got := c.Value("other"); got != nil {
			t.Errorf("%s: a value that nobody has set: %v", name, got)
		}
		child := context.WithValue(c, "other", 1) //nolint:revive,staticcheck // a test
		if child.Value(key{}) != "value" || child.Value("other") != 1 {
			t.Errorf("%s: a child has lost values", name)
		}
	}
}

// A scope ends by Cancel only: not with the context that it has its values from.
func TestScopeOutlivesItsParent(t *testing.T) {
	parent, cancel := context.WithTimeout(context.Background(), time.Hour)
	s := task.NewScope(parent)
	c := new(task.Call)
	c.Begin(s)
	if _, ok := c.Deadline(); ok {
		t.Error("the call has its parent's deadline")
	}
	cancel()
	wantAlive(c, t)
	if s.Cause() != nil {
		t.Errorf("the scope has ended by %v", s.Cause())
	}
	s.Cancel(errCause)
	if !errors.Is(s.Cause(), errCause) {
		t.Errorf("the scope has ended by %v", s.Cause())
	}
}

// Contexts derived from a call end with it and know why, and each costs no goroutine.
func TestDerivedContexts(t *testing.T) {
	derive := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"WithCancel": context.WithCancel,
		"WithTimeout": func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(c, time.Hour)
		},
		"grandchild": func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.WithValue(c, key{}, 2), time.Hour)
		},
	}
	for name, from := range derive {
		t.Run(name, func(t *testing.T) {
			c, s := begin()
			before := runtime.NumGoroutine()
			var children []context.Context
			for range 100 {
				child, cancel := from(c)
				defer cancel()
				children = append(children, child)
			}
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%d goroutines for %d contexts", n-before, len(children))
			}
			wantAlive(children[7], t)
			s.Cancel(errCause)
			for _, child := range children {
				wantEnded(child, t, errCause)
			}
			c.End()
			late, cancel := from(c)
			defer cancel()
			wantEnded(late, t, errCause)
		})
	}
}

func TestDerivedContextEndsWithTheCall(t *testing.T) {
	c, _ := begin()
	child, cancel := context.WithCancel(c)
	defer cancel()
	c.End()
	wantEnded(child, t, task.ErrEnded)
	late, cancel := context.WithCancel(c)
	defer cancel()
	wantEnded(late, t, task.ErrEnded)
}

func TestAfterFuncHearsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := begin()
		heard := 0
		context.AfterFunc(c, func() { heard++ })
		stop := context.AfterFunc(c, func() { heard += 100 })
		stop()
		synctest.Wait()
		if heard != 0 {
			t.Errorf("heard %d before the end", heard)
		}
		s.Cancel(errCause)
		synctest.Wait()
		if heard != 1 {
			t.Errorf("heard %d", heard)
		}
	})
}

// All that may meet at once agrees in the end.
func TestCallIsSafeForConcurrentUse(t *testing.T) {
	for i := range 500 {
		c, s := begin()
		var wg sync.WaitGroup
		channels := make([]<-chan struct{}, 3)
		for n := range channels {
			wg.Go(func() { channels[n] = c.Done() })
			wg.Go(func() { _ = c.Err(); _ = c.Value(key{}); _ = context.Cause(c) })
		}
		wg.Go(c.End)
		if i%2 == 0 {
			wg.Go(func() { s.Cancel(errCause) })
		}
		wg.Wait()
		for _, done := range channels {
			<-done
			if done != c.Done() {
				t.Fatal("two channels for one call")
			}
		}
		if c.Err() == nil || context.Cause(c) == nil {
			t.Fatalf("ended, but Err %v and Cause %v", c.Err(), context.Cause(c))
		}
	}
}

// A call that nobody asks for its channel costs nothing.
func TestUntouchedCallAllocatesNothing(t *testing.T) {
	_, s := begin()
	calls := make([]task.Call, 2000)
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		c := &calls[i]
		i++
		c.Begin(s)
		if c.Err() != nil {
			t.Error("ended")
		}
		c.End()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCall(b *testing.B) {
	_, s := begin()
	for name, use := range map[string]func(context.Context){
		"untouched":   func(context.Context) {},
		"Err":         func(c context.Context) { _ = c.Err() },
		"Done":        func(c context.Context) { _ = c.Done() },
		"WithTimeout": func(c context.Context) { _, cancel := context.WithTimeout(c, time.Hour); cancel() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var c task.Call
				c.Begin(s)
				use(&c)
				c.End()
			}
		})
	}
}
