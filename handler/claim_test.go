package handler_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// ends are the two ways in which sarama takes a claim away.
var ends = map[string]func(s *session, c *claim){
	"eager":       func(s *session, c *claim) { s.cancel(sarama.ErrRebalanceInProgress) },
	"cooperative": func(s *session, c *claim) { close(c.messages) },
}

// bothProtocols runs a test in a bubble of virtual time for each of them.
func bothProtocols(t *testing.T, test func(t *testing.T, revoke func(*session, *claim))) {
	for name, revoke := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, revoke) })
		})
	}
}

func TestMessagesAreHandledInOrderAndCommitted(t *testing.T) {
	bothProtocols(t, func(t *testing.T, revoke func(*session, *claim)) {
		var seen starts
		g := newHandler(t, options(t), func(_ context.Context, m *handler.Task) error {
			seen.add(m.Offset)
			time.Sleep(time.Minute)
			return nil
		})
		s, c := newSession(), newClaim(0, 5)
		done := consume(t, g, s, c)
		time.Sleep(5*time.Minute + time.Second)
		if got := seen.all(); !slices.Equal(got, []int64{0, 1, 2, 3, 4}) {
			t.Errorf("started %v, want 0 to 4 in order", got)
		}
		if got := s.committed(0); got != 5 {
			t.Errorf("committed %d, want 5", got)
		}
		revoke(s, c)
		<-done
	})
}

// B10: nothing starts after the revocation, whatever lies ready.
func TestNothingStartsAfterRevocation(t *testing.T) {
	bothProtocols(t, func(t *testing.T, revoke func(*session, *claim)) {
		for range 300 {
			var seen starts
			s, c := newSession(), newClaim(0, 100)
			g := newHandler(t, options(t), func(_ context.Context, m *handler.Task) error {
				seen.add(m.Offset)
				if m.Offset == 1 {
					s.cancel(sarama.ErrRebalanceInProgress) // by the handler itself, just before it returns
				}
				return nil
			})
			<-consume(t, g, s, c)
			if got := seen.all(); len(got) != 2 {
				t.Fatalf("started %v, want 0 and 1", got)
			}
			if got := s.committed(0); got != 2 {
				t.Fatalf("committed %d, want 2", got)
			}
		}
		_ = revoke
	})
}

// B11: a closed channel ends the claim and never yields a nil message.
func TestClosedMessagesEndTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newHandler(t, options(t), func(_ context.Context, m *handler.Task) error {
			if m.ConsumerMessage == nil {
				t.Error("nil message")
			}
			return nil
		})
		s, c := newSession(), newClaim(0, 0)
		begin := time.Now()
		done := consume(t, g, s, c)
		close(c.messages)
		<-done
		if d := time.Since(begin); d > 100*time.Millisecond {
			t.Errorf("claim ended after %v", d)
		}
	})
}

// B17: whatever the handler does to its goroutine, the message is tried again and nothing else suffers.
func TestPanicAndGoexitAreFailures(t *testing.T) {
	faults := map[string]func(){
		"string":    func() { panic("boom") },
		"error":     func() { panic(errors.New("boom")) },
		"nil":       func() { var p *int; *p = 1 },
		"index":     func() { _ = []int{}[len(ends)] },
		"goexit":    runtime.Goexit,
		"panic nil": func() { panic(nil) }, //nolint:govet // on purpose
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen starts
				g := newHandler(t, options(t), func(_ context.Context, m *handler.Task) error {
					seen.add(m.Offset)
					if m.Offset == 2 && len(seen.all()) < 5 {
						fault()
					}
					return nil
				})
				s, c := newSession(), newClaim(0, 5)
				done := consume(t, g, s, c)
				time.Sleep(time.Minute)
				if got := seen.all(); !slices.Equal(got, []int64{0, 1, 2, 2, 2, 3, 4}) {
					t.Errorf("started %v", got)
				}
				if got := s.committed(0); got != 5 {
					t.Errorf("committed %d, want 5", got)
				}
				s.cancel(sarama.ErrRebalanceInProgress)
				<-done
				if st := g.Status(); st.Failed != 2 || st.Running != 0 {
					t.Errorf("status %+v", st)
				}
			})
		})
	}
}

// B21: a failed message is tried again in place, and nothing is committed past it meanwhile.
func TestFailedMessageIsNeverPassedOver(t *testing.T) {
	bothProtocols(t, func(t *testing.T, revoke func(*session, *claim)) {
		var seen starts
		g := newHandler(t, options(t), func(_ context.Context, m *handler.Task) error {
			seen.add(m.Offset)
			if m.Offset == 2 {
				return errors.New("not yet")
			}
			return nil
		})
		s, c := newSession(), newClaim(0, 5)
		done := consume(t, g, s, c)
		time.Sleep(time.Hour)
		if got := s.committed(0); got != 2 {
			t.Errorf("committed %d, want 2", got)
		}
		if got := seen.all(); slices.Max(got) != 2 || len(got) < 30 {
			t.Errorf("started %v", got)
		}
		begin := time.Now()
		revoke(s, c) // during the pause of the retry
		<-done
		if d := time.Since(begin); d != 0 {
			t.Errorf("the pause held the claim up for %v", d)
		}
	})
}

// B14: a stubborn task is abandoned, its result is dropped, and it holds its partition until it returns.
func TestStubbornTaskHoldsItsPartitionOnly(t *testing.T) {
	bothProtocols(t, func(t *testing.T, revoke func(*session, *claim)) {
		var seen starts
		g := newHandler(t, options(t), func(_ context.Context, m *handler.Task) error {
			seen.add(m.Offset)
			if len(seen.all()) == 1 {
				time.Sleep(time.Hour) // deaf to its context
			}
			return nil
		})
		s, c := newSession(), newClaim(0, 3)
		done := consume(t, g, s, c)
		time.Sleep(time.Minute)
		begin := time.Now()
		revoke(s, c)
		<-done
		if d := time.Since(begin); d > time.Second {
			t.Errorf("claim ended after %v", d)
		}
		if st := g.Status(); st.Stray != 1 || st.Abandoned != 1 {
			t.Errorf("status %+v", st)
		}
		s2, c2 := newSession(), newClaim(0, 3)
		done2 := consume(t, g, s2, c2)
		time.Sleep(time.Minute)
		if got := seen.all(); len(got) != 1 {
			t.Errorf("started %v while the stray runs", got)
		}
		time.Sleep(time.Hour)
		if got := seen.all(); !slices.Equal(got, []int64{0, 0, 1, 2}) {
			t.Errorf("started %v", got)
		}
		if s.committed(0) != 0 || s2.committed(0) != 3 {
			t.Errorf("committed %d and %d, want 0 and 3", s.committed(0), s2.committed(0))
		}
		if st := g.Status(); st.Strays != 1 || st.Running != 0 {
			t.Errorf("status %+v", st)
		}
		s2.cancel(context.Canceled)
		<-done2
	})
}

func TestSlotsBoundRunningTasks(t *testing.T) {
	for _, slots := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			o := options(t)
			o.Slots = slots
			g := newHandler(t, o, func(_ context.Context, m *handler.Task) error {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return nil
			})
			s := newSession()
			for p := range int32(5) {
				c := newClaim(p, 4)
				consume(t, g, s, c)
			}
			time.Sleep(time.Hour)
			mu.Lock()
			defer mu.Unlock()
			if most != slots {
				t.Errorf("%d ran at once, want %d", most, slots)
			}
			for p := range int32(5) {
				if s.committed(p) != 4 {
					t.Errorf("partition %d committed %d", p, s.committed(p))
				}
			}
			s.cancel(context.Canceled)
		})
	}
}

// hang_neighbours: a task that hangs in the middle of short ones does not keep them from being committed.
func TestHangDelaysNoNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		o.Plan = plan(t, config.Input{Expected: time.Millisecond, Grace: config.NoGrace})
		hang := make(chan struct{})
		g := newHandler(t, o, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 500 {
				<-hang
			}
			return nil
		})
		s, c := newSession(), newClaim(0, 1000)
		done := consume(t, g, s, c)
		time.Sleep(300 * time.Millisecond)
		if got := s.committed(0); got != 500 {
			t.Errorf("committed %d, want 500", got)
		}
		begin := time.Now()
		close(c.messages)
		<-done
		if d := time.Since(begin); d > 50*time.Millisecond {
			t.Errorf("claim ended after %v", d)
		}
		close(hang)
	})
}
