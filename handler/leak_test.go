package handler_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// B38: revocations with tasks in flight leave no goroutine and no memory behind, neither of tasks that obey nor of those that do not;
// and one long session is enough for all of them.
func TestRevocationsLeaveNothingBehind(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
			within, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			if m.Partition%10 == 0 {
				time.Sleep(time.Minute) // stubborn
			}
			<-within.Done()
			return within.Err()
		})
		g.logs.quiet = true
		cycle := func(i int) {
			c := newClaim(int32(i), 2)
			done := g.consume(c)
			time.Sleep(time.Second)
			p.revoke(g, c)
			<-done
			if g.s.ctx.Err() != nil {
				_ = g.Cleanup(g.s)
				g.s = newSession()
			}
		}
		rest := func() (goroutines int, heap uint64) {
			if err := g.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return runtime.NumGoroutine(), liveHeap()
		}
		for i := range 200 {
			cycle(i)
		}
		goroutines, heap := rest()
		for i := range 1000 {
			cycle(i)
		}
		moreGoroutines, moreHeap := rest()
		if moreGoroutines > goroutines+5 {
			t.Errorf("%d goroutines more", moreGoroutines-goroutines)
		}
		if grown := int64(moreHeap) - int64(heap); grown > 100*1000 {
			t.Errorf("the heap grew by %d bytes over 1000 claims", grown)
		}
		g.end()
	})
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A thousand rebalances with tasks in flight, some that end between two claims and some that outlive many: goroutines, memory and the
// maps of claims are level.
func TestRebalancesWithTasksInFlightLeaveNothingBehind(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		o := ordered(t, order, 4)
		r := begin(t, o, plain, func(ctx context.Context, m *handler.Task) error {
			return obedient(time.Duration(m.Offset%7+1)*time.Second)(ctx, m)
		})
		r.logs.quiet = true
		produce := func() {
			o := int64(len(r.log))
			r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: o, Key: []byte{byte(o % 5)}, Value: []byte("v")})
		}
		cycle := func() {
			produce()
			time.Sleep(5 * time.Second)
			r.rejoin()
		}
		size := func() (goroutines int, heap uint64) {
			synctest.Wait()
			return runtime.NumGoroutine(), liveHeap()
		}
		for range 100 {
			cycle()
		}
		goroutines, heap := size()
		for range 1000 {
			cycle()
		}
		moreGoroutines, moreHeap := size()
		if moreGoroutines > goroutines+5 {
			t.Errorf("%d goroutines more", moreGoroutines-goroutines)
		}
		// The test's own log and starts have 16 and 300 bytes or so a message.
		if grown := int64(moreHeap) - int64(heap); grown > 1000*400+200_000 {
			t.Errorf("the heap grew by %d bytes over 1000 rebalances", grown)
		}
		time.Sleep(48 * time.Hour)
		r.wantCommitted(0, int64(len(r.log)))
		if n, want := r.seen.count(), len(r.log); n != want {
			t.Errorf("%d starts of %d messages", n, want)
		}
		if s := r.Status(); s.Running != 0 || s.Kept != 0 || s.Strays != 0 {
			t.Errorf("status %+v", s)
		}
		r.group.end()
	})
}

// A runner that waits for its next burst holds nothing of the last one.
func TestIdleRunnersHoldNoMessage(t *testing.T) {
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		inVirtualTime(t, func(t *testing.T) {
			var mu sync.Mutex
			var held []weak.Pointer[sarama.ConsumerMessage]
			g := newGroup(t, ordered(t, order, 8), func(_ context.Context, task *handler.Task) error {
				mu.Lock()
				defer mu.Unlock()
				held = append(held, weak.Make(task.ConsumerMessage))
				return nil
			})
			g.consume(newClaim(0, 8))
			time.Sleep(time.Minute)
			runtime.GC()
			mu.Lock()
			defer mu.Unlock()
			for i, h := range held {
				if h.Value() != nil {
					t.Errorf("%v: message %d is still held", order, i)
				}
			}
			g.end()
		})
	}
}

// The same with partitions that come and go: what the handler remembers of them is level, and nothing in the end.
func TestNothingIsRememberedOfPartitionsThatHaveGone(t *testing.T) {
	for _, plain := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, ordered(t, handler.ByKey, 40), obedient(time.Minute))
			g.logs.quiet = true
			m := newMemberSession()
			g.s = m.session
			for i := range 1000 {
				var session sarama.ConsumerGroupSession = m
				if plain {
					session = m.session
				}
				held := []int32{int32(i % 40), int32(i * 7 % 40), int32(i * 11 % 40)}
				slices.Sort(held)
				held = slices.Compact(held)
				g.assign(held...)
				var claims []<-chan struct{}
				for _, p := range held {
					claims = append(claims, g.consumeIn(session, newClaim(p, 3)))
				}
				time.Sleep(10 * time.Second)
				m.cancel(sarama.ErrRebalanceInProgress)
				for _, done := range claims {
					<-done
				}
				if n := g.Entries(); n > 3*len(held)+1 { // each has a chain, and lingers or has a stray
					t.Fatalf("%d entries after %d rebalances", n, i+1)
				}
				_ = g.Cleanup(session)
				m = m.another()
				g.s = m.session
			}
			g.assign()
			synctest.Wait()
			g.end()
			if n := g.Entries(); n != 0 {
				t.Errorf("%d entries in the end", n)
			}
		})
	}
}
