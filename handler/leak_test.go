package handler_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

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
