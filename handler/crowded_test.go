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
		recorded := lengthOf(state.Finished)
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

// G2: a map that was taken over needs its room in each commit until its offsets have come again, however few messages lie open: with those
// that end meanwhile it would become too long.
func TestIntakeCountsWhatIsStillToComeOfAMap(t *testing.T) {
	const n, limit = 1000, 100
	inVirtualTime(t, func(t *testing.T) {
		gate := make(chan struct{})
		far := fullMap(n/2, limit)
		before := offset.State{Stamp: offset.Stamp{Owner: 1, Count: 1}, Finished: far}
		odd := func(o int64) bool { return o%2 == 1 }
		g, m, c := claimAt(t, ordered(t, handler.None, n), held(gate, odd), n, 0, before.Encode(limit))
		m.limit = limit
		recorded := lengthOf(far)
		m.onMark = func() { recorded = wantMapOf(t, m, recorded) }
		g.consumeIn(m, c)
		time.Sleep(time.Minute)
		if s := g.Status(); !c.isPaused() || recorded != s.Succeeded+lengthOf(far) || s.Succeeded == 0 {
			t.Errorf("paused %v, %d in the map, %d and %d have finished", c.isPaused(), recorded, lengthOf(far), s.Succeeded)
		}
		close(gate)
		time.Sleep(time.Minute)
		g.wantCommitted(0, n)
		if got := int64(g.seen.count()); got != n-lengthOf(far) || c.isPaused() {
			t.Errorf("%d starts, want %d, paused %v", got, n-lengthOf(far), c.isPaused())
		}
		g.end()
	})
}

// fullMap is of single offsets from an offset on, as many as a text may have beside one unfinished message.
func fullMap(from int64, limit int) (r offset.Ranges) {
	for o := from; offset.New(0, r).BoundAfter(0) <= limit; o += 9 {
		r = append(r, offset.Range{From: o, To: o + 1})
	}
	return r[:len(r)-1]
}

func lengthOf(r offset.Ranges) (n int64) {
	for _, x := range r {
		n += x.To - x.From
	}
	return n
}

// wantMapOf wants the latest commit to say that as many offsets have finished as the one before, or more. It returns how many.
func wantMapOf(t *testing.T, m *memberSession, before int64) int64 {
	t.Helper()
	text := m.lastText()
	state, err := offset.Decode(text, m.committed(0))
	finished := state.Next + lengthOf(state.Finished)
	if err != nil || finished < before || len(text) > m.limit {
		t.Errorf("a text of %d bytes has %d finished offsets, want at least %d: %v", len(text), finished, before, err)
	}
	return finished
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

// Retention or compaction has taken what was delivered to the claim before and had not started, behind a busy key say. It leaves no room for
// what comes, and would for ever: nothing else tells that it is gone.
func TestNothingIsCrowdedByWhatIsGone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		const limit = 60
		o := ordered(t, handler.ByKey, 4)
		g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				return deaf(time.Hour)(ctx, m)
			}
			return nil
		})
		m := newMemberSession()
		m.limit = limit
		g.s = m.session
		r := &rejoining{group: g, t: t, member: m}
		for i := range 1000 {
			key := []byte("hot")
			if i%2 == 1 {
				key = nil
			}
			r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: int64(i), Key: key, Value: []byte("v")})
		}
		r.assign(0)
		r.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		if !r.claim.isPaused() {
			t.Fatalf("not crowded: %+v", r.Status())
		}
		r.endSession(sarama.ErrRebalanceInProgress)
		r.member.limit = limit
		r.assign(0)
		c := newClaim(0, 0)
		c.initial, c.end = sarama.OffsetOldest, 10_005
		c.put(10_000, 10_005)
		r.consumeIn(r.member, c)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if got := r.s.committed(0); got != 10_005 || c.isPaused() {
			t.Errorf("nine hours after the last task of what is gone: committed %d, want 10005; paused %v, %+v", got, c.isPaused(), r.Status().Claims)
		}
		r.group.end()
	})
}
