package handler_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// atOnce are the signs of revocation that are there the moment they are given. A channel that is closed is none: what is buffered
// in it comes first.
var atOnce = map[string]func(g *group){
	"session ended":      func(g *group) { eager.revoke(g, nil) },
	"assigned elsewhere": func(g *group) { g.assign() },
}

// afterEachSign runs a test many times for each sign: each is a race that has to be won every time.
func afterEachSign(t *testing.T, test func(t *testing.T, revoke func(g *group))) {
	for name, revoke := range atOnce {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				inVirtualTime(t, func(t *testing.T) { test(t, revoke) })
			}
		})
	}
}

// B10: nothing starts after a revocation, whatever lies ready: (a) before the first message.
func TestNothingStartsAfterRevocationBeforeTheFirst(t *testing.T) {
	afterEachSign(t, func(t *testing.T, revoke func(g *group)) {
		g := newGroup(t, short(t), nothing)
		c := newClaim(0, 0)
		done := g.consume(c)
		synctest.Wait()
		revoke(g)
		c.put(0, 100)
		<-done
		g.wantStarted()
	})
}

// B10: (b) while a message is in its handler.
func TestNothingStartsAfterRevocationInATask(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, with(t, config.Input{Expected: time.Minute, Grace: 4 * time.Minute}), deaf(time.Minute))
		c := newClaim(0, 100)
		done := g.consume(c)
		time.Sleep(90 * time.Second)
		p.revoke(g, c)
		<-done
		g.wantStarted(0, 1)
		g.wantCommitted(0, 2)
	})
}

// B10: (c) by the handler itself just before it returns.
func TestNothingStartsAfterRevocationByTheTask(t *testing.T) {
	afterEachSign(t, func(t *testing.T, revoke func(g *group)) {
		var g *group
		g = newGroup(t, short(t), func(_ context.Context, m *handler.Task) error {
			if m.Offset == 70 {
				revoke(g)
			}
			return nil
		})
		<-g.consume(newClaim(0, 200))
		if n := g.seen.count(); n != 71 {
			t.Fatalf("%d started, want 71", n)
		}
		g.wantCommitted(0, 71)
	})
}

// A loop that is busy at the revocation leaves runners nothing to start, and nothing to spin on.
func TestBusyLoopStartsNothingAfterRevocation(t *testing.T) {
	for name, revoke := range atOnce {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				var g *group
				busy := make(chan struct{})
				g = newGroup(t, short(t), func(_ context.Context, m *handler.Task) error {
					if m.Offset == 1 {
						<-busy
						revoke(g)
					}
					return nil
				})
				g.s.onMark = func() {
					select {
					case <-busy:
					default:
						close(busy)
						time.Sleep(time.Second)
					}
				}
				<-g.consume(newClaim(0, 100))
				g.wantStarted(0, 1)
				g.wantCommitted(0, 2)
			})
		})
	}
}

// B11: a closed channel ends the claim at once, idle or right after a message, and yields no message.
func TestClosedMessagesEndTheClaim(t *testing.T) {
	for _, n := range []int{0, 1} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, options(t), nothing)
			c := newClaim(0, n)
			done := g.consume(c)
			synctest.Wait()
			if took := elapsed(func() { close(c.messages); <-done }); took != 0 {
				t.Errorf("ended after %v", took)
			}
			if got := g.seen.count(); got != n {
				t.Errorf("%d started, want %d", got, n)
			}
			g.wantCommitted(0, int64(n))
		})
	}
}

// B11: a message without key, value and headers reaches the handler as it is.
func TestEmptyMessageIsHandled(t *testing.T) {
	for _, o := range []func(testing.TB) handler.Options{options, short} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, o(t), func(_ context.Context, m *handler.Task) error {
				if m.Key != nil || m.Value != nil || m.Headers != nil {
					t.Errorf("key %v, value %v, headers %v, want nil", m.Key, m.Value, m.Headers)
				}
				return nil
			})
			c := newClaim(0, 0)
			c.messages <- &sarama.ConsumerMessage{Topic: topic}
			done := g.consume(c)
			time.Sleep(time.Second)
			g.wantCommitted(0, 1)
			g.s.cancel(nil)
			<-done
		})
	}
}

// B06, G9: a long task keeps nothing of the broker's answer alive, which key, value and headers are parts of.
func TestLongTaskHasACopyOfItsOwn(t *testing.T) {
	answer := []byte("kvhw")
	h := &sarama.RecordHeader{Key: answer[2:3], Value: answer[3:]}
	sent := &sarama.ConsumerMessage{Topic: topic, Key: answer[:1], Value: answer[1:2], Headers: []*sarama.RecordHeader{h}}
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), func(_ context.Context, m *handler.Task) error {
			h := m.Headers[0]
			for i, part := range [][]byte{m.Key, m.Value, h.Key, h.Value} {
				if string(part) != string(answer[i]) || &part[0] == &answer[i] {
					t.Errorf("part %d is %q, want a copy of %q", i, part, answer[i])
				}
			}
			return nil
		})
		c := newClaim(0, 0)
		c.messages <- sent
		done := g.consume(c)
		time.Sleep(time.Minute)
		g.wantStarted(0)
		g.s.cancel(nil)
		<-done
	})
}

// A claim that has nothing to do sleeps: years pass without a tick.
func TestIdleClaimSleeps(t *testing.T) {
	for _, o := range []handler.Options{options(t), short(t)} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, o, nothing)
			c := newClaim(0, 1000)
			g.consume(c)
			time.Sleep(20 * 365 * 24 * time.Hour)
			c.put(1000, 1001)
			time.Sleep(time.Second)
			g.wantCommitted(0, 1001)
			g.end()
		})
	}
}

// G9: what a revoked claim has not started is let go before its grace, not after.
func TestBacklogOfARevokedClaimIsFreed(t *testing.T) {
	g := newGroup(t, with(t, config.Input{Expected: time.Millisecond, Grace: 4 * time.Minute}), obedient(time.Hour)) // no copies
	c := newClaim(0, 1)
	freed := putMortal(c)
	done := g.consume(c)
	for st := g.Status(); len(st.Claims) == 0 || st.Claims[0].Backlog < 2 || len(st.Claims[0].Tasks) == 0; st = g.Status() {
		runtime.Gosched()
	}
	close(c.messages)
	for waiting := true; waiting; {
		runtime.GC()
		select {
		case <-freed:
			waiting = false
		case <-done:
			t.Fatal("the claim has ended too soon: this test shows nothing")
		case <-time.After(time.Millisecond):
		}
	}
	g.s.cancel(sarama.ErrUnknownMemberId)
	<-done
}

// G9: the same goes for what lies in one bunch with a task that goes on.
func TestBunchOfARevokedClaimIsFreed(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, with(t, config.Input{Expected: time.Millisecond, Grace: time.Minute}), func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 10 {
				return obedient(time.Hour)(ctx, m)
			}
			return nil
		})
		c := newClaim(0, 11)
		neighbour := putWeak(c)
		c.put(12, 20)
		done := g.consume(c)
		synctest.Wait()
		p.revoke(g, c)
		synctest.Wait()
		for range 10 {
			runtime.GC()
		}
		if neighbour.Value() != nil {
			t.Error("still there")
		}
		<-done
		if n := g.seen.count(); n != 11 {
			t.Errorf("%d started, want 11", n)
		}
	})
}

func putWeak(c *claim) weak.Pointer[sarama.ConsumerMessage] {
	m := &sarama.ConsumerMessage{Topic: topic, Offset: 11}
	c.messages <- m
	return weak.Make(m)
}

// putMortal queues a message and tells when it is freed.
func putMortal(c *claim) (freed chan struct{}) {
	m := &sarama.ConsumerMessage{Topic: topic, Offset: 1}
	freed = make(chan struct{})
	runtime.AddCleanup(m, func(struct{}) { close(freed) }, struct{}{})
	c.messages <- m
	return freed
}

// G9: a long task that is done leaves no memory behind while the next ones of its batch run.
func TestFinishedLongTaskIsFreed(t *testing.T) {
	var value atomic.Pointer[weak.Pointer[sarama.ConsumerMessage]]
	done := make(chan int64)
	g := newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
		if m.Offset == 0 {
			value.Store(new(weak.Make(m.ConsumerMessage)))
			return nil
		}
		done <- m.Offset
		return obedient(time.Hour)(ctx, m)
	})
	c := newClaim(0, 0)
	c.put(0, 3)
	claimDone := g.consume(c)
	<-done
	for value.Load().Value() != nil { // else the test's time runs out
		runtime.GC()
	}
	g.s.cancel(nil)
	<-claimDone
}
