package handler_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// failing are options for tasks that fail often, with one slot, and a retry that is due before the next task has ended.
func failing(t *testing.T, order handler.Order) handler.Options {
	t.Helper()
	o := ordered(t, order, 1)
	o.Retry.Initial, o.Retry.Max = time.Second, time.Second
	return o
}

// Two tasks fail for ever, each with a key of its own: they take turns with what waits, so that the others start, and neither do they
// wait for the whole backlog.
func TestFailingTasksStarveNobody(t *testing.T) {
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, failing(t, order), func(_ context.Context, m *handler.Task) error {
				time.Sleep(10 * time.Second)
				if m.Offset < 2 {
					return errTask
				}
				return nil
			})
			g.logs.quiet = true
			c := newClaim(0, 0)
			c.putKeys(0, "a", "b", "c", "d", "e", "f", "g")
			g.consume(c)
			time.Sleep(115 * time.Second)
			g.wantStarted(0, 1, 0, 2, 1, 3, 0, 4, 1, 5, 0, 6)
			time.Sleep(time.Minute)
			g.wantStarted(0, 1, 0, 2, 1, 3, 0, 4, 1, 5, 0, 6, 1, 0, 1, 0, 1, 0)
			g.end()
		})
	}
}

// By partition a task that is tried again is the first of its claim, and claims take turns.
func TestFailingPartitionsStarveNobody(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var order starts // partitions
		g := newGroup(t, failing(t, handler.ByPartition), func(_ context.Context, m *handler.Task) error {
			order.add(int64(m.Partition))
			time.Sleep(10 * time.Second)
			if m.Partition < 2 {
				return errTask
			}
			return nil
		})
		g.logs.quiet = true
		for p := range int32(3) {
			g.consume(newClaim(p, 3))
			synctest.Wait()
		}
		time.Sleep(95 * time.Second)
		if got, want := order.all(), []int64{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}; !slices.Equal(got, want) {
			t.Errorf("partitions %v were served, want %v", got, want)
		}
		g.wantStarted(0, 0, 0, 0, 0, 1, 0, 0, 2, 0)
		g.end()
	})
}

// G6: without order tasks start in that of their offsets, also those that were handed over together with one that lasts, and taken back.
func TestWithoutOrderTasksStartInThatOfTheirOffsets(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := short(t)
		o.Order, o.Slots = handler.None, 1
		g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
			if m.Offset%200 == 100 { // the ones before it are short, so that it has others behind it in its run
				return deaf(time.Minute)(ctx, m)
			}
			return nil
		})
		g.consume(newClaim(0, 1000))
		time.Sleep(time.Hour)
		g.wantCommitted(0, 1000)
		if got := g.seen.all(); !slices.IsSorted(got) || len(got) != 1000 {
			t.Errorf("%d started: %v", len(got), got)
		}
		g.end()
	})
}
