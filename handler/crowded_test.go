package handler_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// held is a handler that holds some messages until the gate opens.
func held(gate chan struct{}, which func(o int64) bool) handler.Func {
	return func(ctx context.Context, m *handler.Task) error {
		if which(m.Offset) {
			select {
			case <-gate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
}

// G2: where the map of what has finished would not fit into a commit, the intake pauses before it: each commit has all that is finished,
// and is no longer than the broker allows.
func TestIntakePausesBeforeAMapIsTooLong(t *testing.T) {
	const n, limit = 1000, 60
	inVirtualTime(t, func(t *testing.T) {
		gate := make(chan struct{})
		o := ordered(t, handler.None, n)
		g, m, c := claimAt(t, o, held(gate, func(o int64) bool { return o*o%7 == 1 || o == 0 }), n, 0, "")
		m.limit = limit
		g.consumeIn(m, c)
		time.Sleep(time.Minute)
		synctest.Wait()
		text := m.lastText()
		state, err := offset.Decode(text, g.s.committed(0))
		if err != nil || len(text) > limit {
			t.Fatalf("a text of %d bytes: %v", len(text), err)
		}
		recorded := int64(0)
		for _, r := range state.Finished {
			recorded += r.To - r.From
		}
		if s := g.Status(); s.Succeeded != recorded || recorded == 0 || !c.isPaused() {
			t.Errorf("%d finished, %d in the map, paused %v", s.Succeeded, recorded, c.isPaused())
		}
		close(gate)
		time.Sleep(time.Minute)
		synctest.Wait()
		g.wantCommitted(0, n)
		if g.seen.count() != n || c.isPaused() {
			t.Errorf("%d starts of %d messages, paused %v", g.seen.count(), n, c.isPaused())
		}
		g.end()
	})
}

// What a new owner would have to read again, to pass over it, is bounded too.
func TestIntakePausesBeforeTooMuchLiesOpen(t *testing.T) {
	const n = handler.MaxPending + 1000
	inVirtualTime(t, func(t *testing.T) {
		gate := make(chan struct{})
		g := newGroup(t, ordered(t, handler.None, 4), held(gate, func(o int64) bool { return o == 0 }))
		g.consume(newClaim(0, n))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := g.seen.count(); got != handler.MaxPending {
			t.Errorf("%d started, want %d", got, handler.MaxPending)
		}
		close(gate)
		time.Sleep(time.Minute)
		synctest.Wait()
		g.wantCommitted(0, n)
		g.end()
	})
}

// Between two claims nobody looks at the clock: what ends is committed at once, also where commits are batched.
func TestWhatEndsBetweenTwoClaimsIsCommittedAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := short(t)
		o.Order, o.Slots = handler.None, 2
		if o.Plan.CommitInterval == 0 {
			t.Fatal("the plan does not batch")
		}
		r := begin(t, o, false, func(ctx context.Context, m *handler.Task) error {
			return deaf(time.Minute+time.Duration(m.Offset)*time.Millisecond)(ctx, m)
		}, "a", "b")
		time.Sleep(time.Second)
		r.endSession(sarama.ErrRebalanceInProgress)
		time.Sleep(59*time.Second + 2*time.Millisecond)
		synctest.Wait()
		if got := r.before.committed(0); got != 2 {
			t.Errorf("committed %d, want 2", got)
		}
		r.assign(1)
		r.group.end()
	})
}

// A task that fails in the very moment in which the next claim takes over keeps its place: nothing of its key, or of its partition, starts
// before it is tried again.
func TestATaskThatFailsInTheMomentOfAdoption(t *testing.T) {
	for range 20 {
		eachOrdered(t, failsInTheMomentOfAdoption)
	}
}

func eachOrdered(t *testing.T, test func(t *testing.T, order handler.Order)) {
	t.Helper()
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey} {
		inVirtualTime(t, func(t *testing.T) { test(t, order) })
	}
}

func failsInTheMomentOfAdoption(t *testing.T, order handler.Order) {
	failed := false
	o := ordered(t, order, 2)
	o.Retry.Initial, o.Retry.Max = time.Hour, time.Hour
	ends := map[int64]time.Duration{0: time.Minute, 1: time.Minute + time.Second/2}
	if order == handler.ByPartition {
		ends = map[int64]time.Duration{0: time.Minute + time.Second/2}
	}
	first := int64(len(ends)) - 1 // the one that fails
	r := begin(t, o, false, func(ctx context.Context, m *handler.Task) error {
		_ = deaf(ends[m.Offset])(ctx, m)
		if m.Offset == first && !failed {
			failed = true
			return errTask
		}
		return nil
	}, "a", "b", "b")
	time.Sleep(time.Minute - time.Second/4)
	r.s.slowMarks(time.Second) // the loop is at a commit when the second fails
	r.endSession(sarama.ErrRebalanceInProgress)
	r.assign(0)
	r.start()
	time.Sleep(3 * time.Hour)
	synctest.Wait()
	want := map[handler.Order][]int64{handler.ByPartition: {0, 0, 1, 2}, handler.ByKey: {0, 1, 1, 2}}[order]
	got := r.seen.all()
	slices.Sort(got[:2]) // by key they start at once
	if !slices.Equal(got, want) {
		t.Errorf("started %v, want %v", got, want)
	}
	r.wantCommitted(0, 3)
	r.group.end()
}
