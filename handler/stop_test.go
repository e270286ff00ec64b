package handler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// G10, B35: a stop lets tasks run for its own grace, then cancels them, and returns soon after.
func TestStoppingIsBounded(t *testing.T) {
	for _, test := range []struct {
		name      string
		handle    handler.Func
		want      time.Duration // within 50 ms
		committed int64
	}{
		{"ends in the grace", deaf(90 * time.Second), 30 * time.Second, 1},
		{"obeys", obedient(time.Hour), 10 * time.Minute, 0},
		{"stubborn", deaf(time.Hour), 10*time.Minute + time.Second, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				g := newGroup(t, with(t, config.Input{Expected: time.Minute, StopGrace: 10 * time.Minute}), test.handle)
				done := g.consume(newClaim(0, 3))
				time.Sleep(time.Minute)
				took := elapsed(func() {
					g.s.cancel(nil)
					<-done
				})
				if took < test.want || took > test.want+50*time.Millisecond {
					t.Errorf("the claim ended after %v, want %v", took, test.want)
				}
				g.wantCommitted(0, test.committed)
				g.wantStarted(0)
				time.Sleep(time.Hour)
			})
		})
	}
}

// Where tasks are too long for a stop to wait for, they are cancelled at its start and have the grace to wind down.
func TestAStopLeavesLongTasksTimeToWindDown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		saved := false
		g := newGroup(t, with(t, config.Input{Expected: time.Hour}), func(ctx context.Context, _ *handler.Task) error {
			<-ctx.Done()
			time.Sleep(3 * time.Second) // it saves where it is
			saved = true
			return context.Cause(ctx)
		})
		done := g.consume(newClaim(0, 1))
		time.Sleep(time.Minute)
		took := elapsed(func() {
			g.s.cancel(nil)
			<-done
		})
		if !saved || took > 3*time.Second+50*time.Millisecond {
			t.Errorf("ended after %v, saved: %v", took, saved)
		}
	})
}

// An idle claim ends at once.
func TestIdleClaimEndsAtOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, with(t, config.Input{Expected: time.Minute, Grace: time.Minute, StopGrace: time.Hour}), nothing)
		c := newClaim(0, 0)
		done := g.consume(c)
		time.Sleep(time.Minute)
		if took := elapsed(func() { p.revoke(g, c); <-done }); took != 0 {
			t.Errorf("ended after %v", took)
		}
	})
}

// The cause of a session's end decides on the grace: a stop comes from the user's context, whatever cause that has; a membership that
// is lost comes from sarama's heartbeats, whatever the network calls it.
func TestReasonOfAnEnd(t *testing.T) {
	_, timeout := (&net.Dialer{Timeout: time.Nanosecond}).Dial("tcp", "127.0.0.1:1")
	if !errors.Is(timeout, context.DeadlineExceeded) {
		t.Fatalf("%v is no longer a deadline that was exceeded: this test needs another error", timeout)
	}
	for _, test := range []struct {
		cause error
		want  handler.Reason
	}{
		{context.Canceled, handler.Stopping},
		{context.DeadlineExceeded, handler.Stopping},
		{errors.New("terminated signal received"), handler.Stopping}, // as signal.NotifyContext has it
		{handler.ErrDraining, handler.Stopping},
		{sarama.ErrRebalanceInProgress, handler.Rebalance},
		{sarama.ErrSessionPartitionCountChanged, handler.Rebalance},
		{sarama.ErrSessionConsumeClaimExited, handler.Rebalance},
		{fmt.Errorf("topics changed: %w", handler.ErrRevoked), handler.Rebalance},
		{handler.ErrLost, handler.Lost},
		{fmt.Errorf("%w: %w", handler.ErrLost, sarama.ErrRebalanceInProgress), handler.Lost},
		{sarama.ErrUnknownMemberId, handler.Lost},
		{sarama.ErrIllegalGeneration, handler.Lost},
		{sarama.ErrFencedInstancedId, handler.Lost},
		{sarama.ErrSessionHeartbeatFailed, handler.Lost},
		{sarama.ErrRebalanceTimedOut, handler.Lost},
		{sarama.ErrOutOfBrokers, handler.Lost},
		{sarama.PacketDecodingError{Info: "?"}, handler.Lost},
		{io.EOF, handler.Lost},
		{timeout, handler.Lost},
	} {
		t.Run(test.cause.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) { checkReason(t, test.cause, test.want) })
		})
	}
}

func checkReason(t *testing.T, cause error, want handler.Reason) {
	o := with(t, config.Input{Expected: time.Minute, Grace: 2 * time.Minute, StopGrace: 3 * time.Minute})
	var ends claimEnds
	o.Hooks = []any{&ends}
	var told error
	g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
		defer func() { told = context.Cause(ctx) }()
		return obedient(time.Hour)(ctx, m)
	})
	done := g.consume(newClaim(0, 2))
	time.Sleep(time.Minute)
	g.s.cancel(cause)
	<-done
	e := ends.all()[0]
	waited := map[handler.Reason]time.Duration{handler.Stopping: 3 * time.Minute, handler.Rebalance: 2 * time.Minute}[want]
	if e.Reason != want || e.Waited != waited || !errors.Is(e.Cause, cause) {
		t.Errorf("claim end %+v, want %v after %v", e, want, waited)
	}
	causes := map[handler.Reason]error{
		handler.Stopping: handler.ErrDraining, handler.Rebalance: handler.ErrRevoked, handler.Lost: handler.ErrLost,
	}
	if !errors.Is(told, causes[want]) {
		t.Errorf("the task was told %v, want %v", told, causes[want])
	}
	if want == handler.Lost && !errors.Is(told, cause) {
		t.Errorf("the task was told %v, which does not say %v", told, cause)
	}
}

// A member that knows that it was asked to stop need not guess from the cause, which is the user's.
func TestStopIsOneWhateverItsCause(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var ends claimEnds
		o := options(t)
		o.Hooks = []any{&ends}
		g := newGroup(t, o, nothing)
		m := newMemberSession()
		m.stopping = true
		done := g.consumeIn(m, newClaim(0, 1))
		time.Sleep(time.Minute)
		m.cancel(io.EOF)
		<-done
		if e := ends.all()[0]; e.Reason != handler.Stopping {
			t.Errorf("claim end %+v, want a stop", e)
		}
	})
}

// A lease that ends in the middle of a rebalance ends its grace.
func TestMoreUrgentReasonShortensTheWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var ends claimEnds
		o := with(t, config.Input{Expected: time.Minute, Grace: 2 * time.Minute})
		o.Hooks = []any{&ends}
		g := newGroup(t, o, deaf(time.Hour))
		m := newMemberSession()
		c := newClaim(0, 2)
		done := g.consumeIn(m, c)
		time.Sleep(time.Minute)
		close(c.messages)
		time.Sleep(time.Minute)
		m.stopWork(handler.ErrLost)
		<-done
		if e := ends.all()[0]; e.Reason != handler.Lost || e.Waited.Truncate(time.Second) != time.Minute {
			t.Errorf("claim end %+v, want lost after a minute of two", e)
		}
		time.Sleep(time.Hour)
	})
}

// A stop in the middle of a rebalance has the shorter of the two graces.
func TestStopShortensTheGraceOfARebalance(t *testing.T) {
	for stop, want := range map[time.Duration]time.Duration{10 * time.Second: 70 * time.Second, time.Hour: 4 * time.Minute} {
		inVirtualTime(t, func(t *testing.T) {
			var ends claimEnds
			o := with(t, config.Input{Expected: time.Minute, Grace: 4 * time.Minute, StopGrace: stop})
			o.Hooks = []any{&ends}
			g := newGroup(t, o, deaf(2*time.Hour))
			c := newClaim(0, 2)
			g.consume(c)
			time.Sleep(time.Second)
			close(c.messages)
			time.Sleep(time.Minute)
			g.end()
			if e := ends.all()[0]; e.Reason != handler.Rebalance || e.Waited.Truncate(time.Second) != want {
				t.Errorf("a stop with a grace of %v: %+v, want a rebalance that waited %v", stop, e, want)
			}
		})
	}
}

// The last commit is waited for, but not when the membership is lost: nobody would take it.
func TestLastCommitIsWaitedForUnlessLost(t *testing.T) {
	for cause, want := range map[error]time.Duration{
		sarama.ErrRebalanceInProgress: 700 * time.Millisecond,
		context.Canceled:              700 * time.Millisecond,
		sarama.ErrUnknownMemberId:     0,
	} {
		inVirtualTime(t, func(t *testing.T) {
			g := newGroup(t, options(t), nothing)
			m := newMemberSession()
			m.release = func(ctx context.Context) { <-ctx.Done() } // there is no answer
			done := g.consumeIn(m, newClaim(0, 1))
			time.Sleep(time.Minute)
			if took := elapsed(func() { m.cancel(cause); <-done }); took != want {
				t.Errorf("%v: the claim ended after %v, want %v", cause, took, want)
			}
		})
	}
}

// claimEnds is a ClaimEndHook that keeps what it hears.
type claimEnds struct {
	mu   sync.Mutex
	list []handler.ClaimEnd
}

func (c *claimEnds) OnClaimEnd(e handler.ClaimEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, e)
}

func (c *claimEnds) all() []handler.ClaimEnd {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

// G4: sarama's cooperative group lets a session go as soon as the context of its Consume has ended, and may do so before the session hears of
// the cause. A member knows of its own stop: nothing else is one, and the tasks go on.
func TestASessionThatEndsWithoutACauseIsNoStop(t *testing.T) {
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		t.Run(order.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				r := begin(t, ordered(t, order, 1), false, deaf(time.Hour), "a")
				time.Sleep(time.Minute)
				r.endSession(nil)
				if s := r.Status(); s.Kept != 1 || s.Running != 1 {
					t.Errorf("between two sessions %+v", s)
				}
				r.assign(0)
				r.start()
				time.Sleep(time.Hour)
				r.wantStarted(0)
				r.wantCommitted(0, 1)
				r.group.end()
			})
		})
	}
}

// A process that was frozen until its lease was over starts nothing when it is thawed, although the timer of the lease has not come round.
func TestNothingStartsWhenTheLeaseIsOver(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		r := begin(t, ordered(t, order, 1), false, func(_ context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				time.Sleep(time.Hour)
			}
			return nil
		}, "a", "a", "a")
		time.Sleep(time.Minute)
		r.member.overdue.Store(true)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := r.seen.count(); n != 1 {
			t.Errorf("%d starts, want none after the lease was over", n-1)
		}
		r.member.stopWork(handler.ErrLost)
		r.assign()
		r.group.end()
	})
}
