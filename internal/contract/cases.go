package contract

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// Handlers of the cases.

func instant(context.Context, *handler.Task) error { return nil }

// obedient runs until its context ends.
func obedient(ctx context.Context, _ *handler.Task) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// gate holds tasks until it is opened, or their context ends.
type gate struct{ open chan struct{} }

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func everyMessage(r *rig) {
	r.fill(3, 20)
	r.start("one", instant)
	r.eventually("all committed", r.allCommitted(3, 20))
	if n := r.seen.starts(); n != 60 {
		r.Errorf("%d starts of 60 messages\n%s", n, r.seen)
	}
}

func orderHolds(r *rig) {
	r.fill(4, 30)
	r.start("one", instant)
	r.start("two", instant)
	r.eventually("all committed", r.allCommitted(4, 30))
	for p := range int32(4) {
		calls := r.seen.of(p)
		for i := 1; i < len(calls); i++ {
			if before := calls[i-1]; before.who == calls[i].who && (before.end == 0 || before.end > calls[i].begin || before.offset >= calls[i].offset) {
				r.Errorf("partition %d: %+v and %+v overlap or are out of order", p, before, calls[i])
			}
		}
	}
}

func neverPassedOver(r *rig) {
	r.fill(1, 5)
	var tries atomic.Int32
	r.start("one", func(_ context.Context, t *handler.Task) error {
		if t.Offset == 2 && tries.Add(1) <= 3 {
			if c := r.committed(0); c > 2 {
				r.Errorf("committed %d while 2 is unresolved", c)
			}
			return errors.New("not yet")
		}
		return nil
	})
	r.eventually("all committed", r.allCommitted(1, 5))
	if got := offsets(r.seen.of(0)); !slices.Equal(got, []int64{0, 1, 2, 2, 2, 2, 3, 4}) {
		r.Errorf("started %v", got)
	}
}

func panicAlone(r *rig) {
	r.fill(2, 3)
	long := newGate()
	var tries atomic.Int32
	m := r.start("one", func(ctx context.Context, t *handler.Task) error {
		if t.Partition == 1 && t.Offset == 0 {
			return long.wait(ctx)
		}
		if t.Partition == 0 && t.Offset == 1 && tries.Add(1) == 1 {
			panic("boom")
		}
		return nil
	})
	r.eventually("partition 0 is done", func() bool { return r.committed(0) == 3 })
	close(long.open)
	r.eventually("all committed", r.allCommitted(2, 3))
	if s := m.Status(); s.Panicked != 1 || s.Failed != 1 || len(r.seen.of(1)) != 3 {
		r.Errorf("status %+v\n%s", s.Counts, r.seen)
	}
}

// newcomer: two members share four partitions although each of them is in a task that would last for hours.
func newcomer(r *rig) {
	r.fill(4, 2)
	r.start("one", obedient)
	r.eventually("four tasks run", func() bool { return r.seen.running() == 4 })
	two := r.start("two", obedient)
	r.eventually("both hold two and run them", func() bool {
		s := two.Status()
		return s.Running == 2 && r.members[0].Status().Running == 2
	})
	interrupted := 2 // those that moved
	if r.eager {
		interrupted = 4
	}
	if n := r.seen.starts(); n > 4+interrupted {
		r.Errorf("%d starts\n%s", n, r.seen)
	}
	two.stop(r.T)
	r.eventually("the first one runs all again", func() bool { return r.members[0].Status().Running == 4 })
}

func stubborn(r *rig) {
	r.fill(2, 1)
	deaf := newGate()
	one := r.start("one", func(_ context.Context, t *handler.Task) error {
		<-deaf.open
		return nil
	})
	r.eventually("two tasks run", func() bool { return r.seen.running() == 2 })
	two := r.start("two", obedient)
	r.eventually("the newcomer runs one", func() bool { return two.Status().Running == 1 })
	moved := r.seen.by("two")[0].partition
	r.eventually("the abandoned task is counted", func() bool { return one.Status().Abandoned >= 1 })
	close(deaf.open)
	r.eventually("its result is dropped", func() bool { s := one.Status(); return s.Strays >= 1 && s.Stray == 0 })
	if got := r.committed(moved); got > 0 {
		r.Errorf("the late success moved the committed offset to %d", got)
	}
}

func retryPause(r *rig) {
	r.fill(2, 1)
	r.retry.Initial, r.retry.Max = time.Hour, time.Hour
	one := r.start("one", func(context.Context, *handler.Task) error { return errors.New("not today") })
	r.eventually("both tasks wait for their retry", func() bool {
		s := one.Status()
		return len(s.Claims) == 2 && s.Claims[0].Retrying && s.Claims[1].Retrying
	})
	r.start("two", instant)
	r.eventually("the partition that moved is handled", func() bool { return len(r.seen.by("two")) == 1 })
	one.stop(r.T)
	r.eventually("the next owner handles the other one", r.allCommitted(2, 1))
}

func cleanStop(r *rig) {
	r.fill(3, 10)
	one := r.start("one", func(ctx context.Context, t *handler.Task) error {
		if t.Offset == 5 {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	})
	r.eventually("five are done on each", func() bool { return r.seen.running() == 3 && r.seen.starts() == 18 })
	one.stop(r.T)
	for p := range int32(3) {
		r.wantCommitted(p, 5)
	}
	r.start("two", instant)
	r.eventually("the rest is done", r.allCommitted(3, 10))
	for _, c := range r.seen.by("two") {
		if c.offset < 5 {
			r.Errorf("%d@%d was handled again", c.partition, c.offset)
		}
	}
	if n := len(r.seen.by("two")); n != 15 {
		r.Errorf("%d starts after the restart, want 15", n)
	}
}

func committedAtOnce(r *rig) {
	r.fill(1, 3)
	step := make(chan struct{})
	r.start("one", func(ctx context.Context, t *handler.Task) error {
		select {
		case <-step:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	for n := range int64(3) {
		step <- struct{}{}
		r.eventually("one more is committed", func() bool { return r.committed(0) == n+1 })
	}
}

func goesOn(r *rig) {
	r.fill(4, 1)
	r.start("one", instant)
	r.eventually("all committed", r.allCommitted(4, 1))
	for n := range int64(3) {
		two := r.start("two", instant)
		r.eventually("the second one holds partitions", func() bool { return len(two.Status().Claims) > 0 })
		two.stop(r.T)
		for p := range int32(4) {
			if err := r.cluster.Produce(r.topic, p, "more"); err != nil {
				r.Fatal(err)
			}
		}
		r.eventually("the first one goes on", r.allCommitted(4, n+2))
	}
}

func stopInGrace(r *rig) {
	r.fill(1, 2)
	r.input.StopGrace = time.Hour
	g := newGate()
	one := r.start("one", func(ctx context.Context, _ *handler.Task) error { return g.wait(ctx) })
	r.eventually("a task runs", func() bool { return r.seen.running() == 1 })
	one.cancel()
	r.eventually("it stops", func() bool { return one.Status().State == "stopping" })
	close(g.open)
	one.stop(r.T)
	r.wantCommitted(0, 1)
	if n := r.seen.starts(); n != 1 {
		r.Errorf("%d starts", n)
	}
}

func stopCancels(r *rig) {
	r.fill(2, 1)
	r.input.StopGrace = 100 * time.Millisecond
	one := r.start("one", obedient)
	r.eventually("two tasks run", func() bool { return r.seen.running() == 2 })
	two := r.start("two", obedient)
	r.eventually("each has one", func() bool { return one.Status().Running == 1 && two.Status().Running == 1 })
	one.stop(r.T)
	for _, c := range r.seen.by("one") {
		if c.end == 0 || c.err == nil {
			r.Errorf("%+v was not cancelled", c)
		}
	}
	r.eventually("the other one takes over", func() bool { return two.Status().Running == 2 })
	for p := range int32(2) {
		if got := r.committed(p); got > 0 {
			r.Errorf("partition %d: committed %d", p, got)
		}
	}
}

func stopIdle(r *rig) {
	r.fill(2, 1)
	one := r.start("one", instant)
	r.eventually("all committed", r.allCommitted(2, 1))
	two := r.start("two", instant)
	r.eventually("each has one", func() bool { return len(one.Status().Claims) == 1 && len(two.Status().Claims) == 1 })
	one.stop(r.T)
	r.eventually("the other one has both", func() bool { return len(two.Status().Claims) == 2 })
}

func cancellation(r *rig) {
	r.fill(1, 1)
	one := r.start("one", obedient)
	r.eventually("a task runs", func() bool { return r.seen.running() == 1 })
	one.stop(r.T)
	if s := one.Status(); s.Failed != 0 || s.Cancelled+s.Strays != 1 {
		r.Errorf("counted %+v", s.Counts)
	}
	if c := r.seen.by("one")[0]; !errors.Is(c.err, handler.ErrDraining) {
		r.Errorf("cancelled with %v", c.err)
	}
	r.start("two", instant)
	r.eventually("the next owner handles it", r.allCommitted(1, 1))
}
