package handler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// G1: whatever happens to a claim, each message succeeds once all is quiet, and an offset is committed only after that.
func TestNothingIsLost(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		const n = 20
		tries := map[int64]int{}
		succeeded := map[int64]bool{}
		g := newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
			tries[m.Offset]++
			if m.Offset%4 == 1 && tries[m.Offset] < 3 {
				return errTask
			}
			err := obedient(time.Minute)(ctx, m)
			succeeded[m.Offset] = err == nil
			return err
		})
		for at := 0; at < n; at = int(g.s.committed(0)) {
			g.s = newSessionWith(g.s)
			g.assign(0)
			c := newClaim(0, 0)
			c.put(at, n)
			done := g.consume(c)
			time.Sleep(5*time.Minute + 30*time.Second) // revoked in the middle of a task
			p.revoke(g, c)
			<-done
			for o := range g.s.committed(0) {
				if !succeeded[o] {
					t.Fatalf("committed %d, but %d did not succeed", g.s.committed(0), o)
				}
			}
		}
		g.wantCommitted(0, n)
	})
}

// newSessionWith returns a session of the next generation that knows what was committed.
func newSessionWith(old *session) *session {
	s := newSession()
	s.generation, s.marked = old.next(), old.marked
	return s
}

// G1, G2, B21: a failed message is tried again in place, and nothing is committed past it meanwhile.
func TestFailedMessageIsNeverPassedOver(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, options(t), func(_ context.Context, m *handler.Task) error {
			if m.Offset == 2 {
				return errTask
			}
			return nil
		})
		c := newClaim(0, 5)
		done := g.consume(c)
		time.Sleep(time.Hour)
		g.wantCommitted(0, 2)
		if got := g.seen.all(); slices.Max(got) != 2 || len(got) < 60 {
			t.Errorf("started %v, want 2 tried again and again", got)
		}
		p.revoke(g, c)
		<-done
	})
}

// B21: what failed three times is handled in the end, before what follows it.
func TestRetriedMessageKeepsItsPlace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var g *group
		g = newGroup(t, options(t), func(_ context.Context, m *handler.Task) error {
			if m.Offset == 2 && g.seen.count() < 6 {
				return errTask
			}
			return nil
		})
		done := g.consume(newClaim(0, 5))
		time.Sleep(time.Minute)
		g.wantStarted(0, 1, 2, 2, 2, 2, 3, 4)
		g.wantCommitted(0, 5)
		eager.revoke(g, nil)
		<-done
	})
}

// Order by partition holds within a claim and over several slots.
func TestPartitionsAreHandledInOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		seen := map[int32]*starts{0: {}, 1: {}, 2: {}}
		g := newGroup(t, short(t), func(_ context.Context, m *handler.Task) error {
			seen[m.Partition].add(m.Offset)
			return nil
		})
		for p := range int32(3) {
			g.consume(newClaim(p, 500))
		}
		time.Sleep(time.Second)
		for p, s := range seen {
			if got := s.all(); len(got) != 500 || !slices.IsSorted(got) {
				t.Errorf("partition %d: %d started, in order: %v", p, len(got), slices.IsSorted(got))
			}
			g.wantCommitted(p, 500)
		}
		g.end()
	})
}

// B24: a stop without grace commits exactly what is finished.
func TestCleanStopCommitsWhatIsFinished(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), obedient(time.Minute))
		var done []<-chan struct{}
		for p := range int32(3) {
			done = append(done, g.consume(newClaim(p, 10)))
		}
		time.Sleep(5*time.Minute + 30*time.Second)
		g.s.cancel(context.Canceled)
		for p, d := range done {
			<-d
			g.wantCommitted(int32(p), 5)
		}
		if got := g.seen.count(); got != 18 {
			t.Errorf("%d started, want five finished and one in progress on each of 3", got)
		}
	})
}

// A group without a commit on the partition commits its start, and goes back where the stored offset lies beyond the end of the log.
func TestStartIsCommittedWhereThereWasNone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), obedient(time.Hour))
		g.s.marked[0] = 900 // of a topic that was made anew
		c := newClaim(0, 0)
		c.initial = sarama.OffsetOldest
		c.put(7, 9)
		done := g.consume(c)
		time.Sleep(time.Minute)
		g.wantCommitted(0, 7)
		time.Sleep(time.Hour)
		g.wantCommitted(0, 8)
		g.s.cancel(context.Canceled)
		<-done
	})
}
