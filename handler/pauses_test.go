package handler_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// All that came while the claim asked turns out to be finished: the claim goes on.
func TestNothingPausesForWhatIsFinished(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		o := options(t)
		o.Order = order
		o.Plan.BacklogMessages, o.Plan.BacklogBytes = 20, 20
		g, m, c := claimAt(t, o, nothing, 0, 0, "")
		c.initial, c.end, m.stored = 0, 200, 100 // sarama was told an older commit
		m.ask = slowly
		c.put(0, 50)
		g.consumeIn(m, c)
		time.Sleep(time.Hour)
		synctest.Wait()
		s := g.Status().Claims[0]
		if c.isPaused() || s.Backlog != 0 || s.Bytes != 0 {
			t.Errorf("an hour later: paused %v, %+v", c.isPaused(), s)
		}
		g.end()
	})
}

// A map with 10,000 finished behind one slow task is taken over from a broker that takes its time: the claim goes on fetching.
func TestAMapThatIsTakenOverPausesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		const n = 10_000
		text := offset.State{Stamp: offset.Stamp{Owner: 7, Count: 7}, Next: 0, Finished: offset.Ranges{{From: 1, To: n}}}.Encode(4096)
		o := ordered(t, handler.None, 8)
		g, m, c := claimAt(t, o, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				return obedient(5*time.Hour)(ctx, m)
			}
			return nil
		}, 0, 0, text)
		c.messages = make(chan *sarama.ConsumerMessage, 2*n)
		c.end = n + 100
		c.put(0, n)
		m.ask = slowly
		g.consumeIn(m, c)
		time.Sleep(time.Hour)
		synctest.Wait()
		s := g.Status().Claims[0]
		t.Logf("pauses %d, left in channel %d, %+v", c.pauses, len(c.messages), s)
		if c.isPaused() || s.Backlog != 1 {
			t.Errorf("an hour later: paused %v, backlog %d, started %v", c.isPaused(), s.Backlog, g.seen.all())
		}
		g.end()
	})
}

// The same without a slow broker: a coordinator that has just taken over has told sarama that nothing was committed.
func TestACommitThatIsFoundLatePausesNothing(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		o := options(t) // tasks of a minute: the plan's own bounds
		o.Order = order
		n := 50
		if order != handler.ByPartition {
			n = 12_000
		}
		g, m, c := claimAt(t, o, nothing, 0, 0, "")
		c.messages = make(chan *sarama.ConsumerMessage, 2*n)
		c.initial, c.end, m.stored = sarama.OffsetOldest, int64(2*n), int64(n)
		g.consumeIn(m, c)
		for i := 0; i < 2*n && !c.isPaused(); i += 10 { // sarama delivers until it is paused
			c.put(i, i+10)
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		s := g.Status().Claims[0]
		if c.isPaused() || g.seen.count() == 0 {
			t.Errorf("bounds %d messages: an hour later: paused %v, %d started, %+v", o.Plan.BacklogMessages, c.isPaused(), g.seen.count(), s)
		}
		g.end()
	})
}

// What a crowded claim had set aside is delivered again, and does not stay in memory while its tasks go on without it.
func TestNothingSetAsideStaysWhileAClaimLingers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		const n, size = 1000, 10_000
		gate := make(chan struct{})
		o := ordered(t, handler.None, n)
		o.Plan.BacklogBytes = 1 << 30
		g, m, c := claimAt(t, o, held(gate, func(o int64) bool { return o%2 == 0 }), 0, 0, "")
		m.limit = 60
		g.assign(0)
		before := liveHeap()
		for i := range n {
			c.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: int64(i), Value: make([]byte, size)}
		}
		done := g.consumeIn(m, c)
		time.Sleep(time.Minute)
		synctest.Wait()
		g.s.cancel(sarama.ErrRebalanceInProgress)
		<-done
		synctest.Wait()
		s := g.Status()
		counted, _, _, _ := g.Leftovers()
		if grown := int64(liveHeap()) - int64(before); grown > counted+int64(s.Kept*size)+1_000_000 {
			t.Errorf("%d tasks go on, %d bytes are counted, and the heap has grown by %d", s.Kept, counted, grown)
		}
		runtime.KeepAlive(c)
		close(gate)
		g.assign()
		g.end()
	})
}

// A claim that paused because the others hold too much goes on when they have given it back, though none of its own tasks ends.
func TestAPausedClaimHearsThatThereIsRoom(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.ByKey, 8)
		o.BacklogBytes = 4000
		g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
			if m.Partition == 0 && string(m.Key) == "hot" {
				return obedient(5*time.Hour)(ctx, m)
			}
			return deaf(time.Minute)(ctx, m)
		})
		big, c := newClaim(1, 0), newClaim(0, 0)
		put := func(c *claim, p int32, o int64, key string, size int) {
			c.messages <- &sarama.ConsumerMessage{Topic: topic, Partition: p, Offset: o, Key: []byte(key), Value: make([]byte, size)}
		}
		put(big, 1, 0, "x", 10_000)
		g.consume(big)
		synctest.Wait()
		for i := range 3 {
			put(c, 0, int64(i), "hot", 1)
		}
		g.consume(c)
		synctest.Wait()
		if !c.isPaused() {
			t.Fatal("not paused while the member holds too much")
		}
		time.Sleep(10 * time.Minute) // the big one has gone
		synctest.Wait()
		if held, _, _, _ := g.Leftovers(); c.isPaused() {
			t.Errorf("the member holds %d bytes of 4000, and the claim is paused: its other keys wait for %v", held, 5*time.Hour)
		}
		g.end()
	})
}
