package handler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// G3, B14: a rebalance waits for no task beyond the grace, even if every task hangs and ignores its context.
func TestRebalanceWaitsForNoTaskBeyondTheGrace(t *testing.T) {
	for _, grace := range []time.Duration{config.NoGrace, time.Millisecond, 5 * time.Second, 4 * time.Minute} {
		t.Run(grace.String(), func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, p protocol) {
				g := newGroup(t, with(t, config.Input{Expected: time.Minute, Grace: grace}), deaf(24*time.Hour))
				c := newClaim(0, 3)
				done := g.consume(c)
				time.Sleep(time.Minute)
				took := elapsed(func() {
					p.revoke(g, c)
					<-done
				})
				if least, most := max(grace, 0), max(grace, 0)+time.Second; took < least || took > most {
					t.Errorf("the claim ended after %v, want %v to %v", took, least, most)
				}
				if grace == config.NoGrace && took > 50*time.Millisecond {
					t.Errorf("without a grace the claim ended after %v", took)
				}
				g.wantStarted(0)
				time.Sleep(25 * time.Hour)
			})
		})
	}
}

// G3, B13: a task that ends within the grace is committed, and the claim ends with it.
func TestTaskThatEndsInTheGraceIsCommitted(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, with(t, config.Input{Expected: time.Minute, Grace: 2 * time.Minute}), obedient(time.Minute))
		c := newClaim(0, 3)
		done := g.consume(c)
		time.Sleep(30 * time.Second)
		took := elapsed(func() {
			p.revoke(g, c)
			<-done
		})
		if took != 30*time.Second {
			t.Errorf("the claim ended after %v, want with its task after 30s", took)
		}
		g.wantStarted(0)
		g.wantCommitted(0, 1)
	})
}

// Tasks that are too long for any grace are cancelled at its start and wind down in it.
func TestLongTasksAreCancelledFirst(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, with(t, config.Input{Expected: time.Hour}), func(ctx context.Context, _ *handler.Task) error {
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, handler.ErrRevoked) {
				t.Errorf("cancelled with %v, want ErrRevoked", cause)
			}
			time.Sleep(3 * time.Second) // saves what it has
			return ctx.Err()
		})
		c := newClaim(0, 3)
		done := g.consume(c)
		time.Sleep(time.Minute)
		took := elapsed(func() {
			p.revoke(g, c)
			<-done
		})
		if took != 3*time.Second {
			t.Errorf("the claim ended after %v, want with its task after 3s", took)
		}
		if n := g.Status().Abandoned; n != 0 {
			t.Errorf("%d abandoned", n)
		}
	})
}

// G8, B15: a cancellation is not a failure: no attempt is counted, nothing is committed or logged as an error.
func TestCancellationIsNotAFailure(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
			err := obedient(time.Hour)(ctx, m)
			if err != nil {
				return errors.Join(errTask, err)
			}
			return nil
		})
		c := newClaim(0, 2)
		done := g.consume(c)
		time.Sleep(time.Minute)
		p.revoke(g, c)
		<-done
		st := g.Status()
		if st.Cancelled != 1 || st.Failed != 0 || st.Started != 1 {
			t.Errorf("cancelled %d, failed %d, started %d, want 1, 0, 1", st.Cancelled, st.Failed, st.Started)
		}
		g.wantCommitted(0, 0)
		for _, level := range []string{"level=WARN", "level=ERROR"} {
			if lines := g.logs.with(level); len(lines) > 0 {
				t.Errorf("logged %q", lines)
			}
		}
	})
}

// A task that succeeds although it was cancelled has succeeded.
func TestSuccessAfterCancellationCounts(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, options(t), func(ctx context.Context, _ *handler.Task) error {
			<-ctx.Done()
			return nil
		})
		c := newClaim(0, 2)
		done := g.consume(c)
		time.Sleep(time.Minute)
		p.revoke(g, c)
		<-done
		g.wantCommitted(0, 1)
		if st := g.Status(); st.Succeeded != 1 || st.Cancelled != 0 {
			t.Errorf("status %+v", st.Counts)
		}
	})
}

// B15: the pause before a retry is no reason to hold a claim.
func TestRetryPauseHoldsUpNoRelease(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		o := with(t, config.Input{Expected: time.Minute, Grace: 4 * time.Minute})
		o.Retry.Initial, o.Retry.Max = 5*time.Minute, 5*time.Minute
		g := newGroup(t, o, func(context.Context, *handler.Task) error { return errTask })
		c := newClaim(0, 2)
		done := g.consume(c)
		time.Sleep(time.Minute)
		took := elapsed(func() {
			p.revoke(g, c)
			<-done
		})
		if took != 0 {
			t.Errorf("the claim ended after %v", took)
		}
		time.Sleep(time.Hour)
		g.wantStarted(0)
	})
}

// A stream that broke while the partition is still ours ends its claim at once, and its task goes on.
func TestStreamThatEndsLetsItsTaskGoOn(t *testing.T) {
	for _, test := range []struct {
		name      string
		then      func(r *rejoining)
		succeeded int64
		strays    int64
	}{
		{"then claimed again", func(r *rejoining) { r.rejoin() }, 1, 0},
		{"then revoked", func(r *rejoining) { r.assign() }, 0, 1},
		{"then the lease ended", func(r *rejoining) { r.member.stopWork(errTask) }, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				o := options(t)
				var ends claimEnds
				o.Hooks = []any{&ends}
				r := begin(t, o, false, deaf(time.Hour), "a")
				time.Sleep(time.Minute)
				close(r.claim.messages)
				if took := elapsed(func() { <-r.done }); took != 0 {
					t.Errorf("the claim ended after %v", took)
				}
				if e := ends.all()[0]; e.Reason != handler.StreamEnded || e.Kept != 1 {
					t.Errorf("claim end %+v", e)
				}
				test.then(r)
				time.Sleep(time.Hour)
				if s := r.Status(); s.Succeeded != test.succeeded || s.Strays != test.strays || s.Started != 1 {
					t.Errorf("%+v", s.Counts)
				}
				r.group.end()
			})
		})
	}
}

// Where a second strategy is offered nothing goes on without a claim: a stream that broke waits for its task as long as that takes, or
// until the partition is revoked for another reason.
func TestStreamThatEndsInAMixedGroupWaitsForItsTask(t *testing.T) {
	for want, revoke := range map[handler.Reason]func(r *rejoining){
		handler.StreamEnded: func(*rejoining) {},
		handler.Rebalance:   func(r *rejoining) { r.s.cancel(sarama.ErrRebalanceInProgress) },
	} {
		inVirtualTime(t, func(t *testing.T) {
			var ends claimEnds
			o := options(t)
			o.Hooks = []any{&ends}
			r := begin(t, o, false, obedient(3*time.Hour), "a")
			r.BalanceStrategies(sarama.NewBalanceStrategySticky(), sarama.NewBalanceStrategyRange())
			time.Sleep(time.Hour)
			close(r.claim.messages)
			time.Sleep(time.Hour)
			if n := len(ends.all()); n != 0 {
				t.Errorf("%v: the claim has ended while its task runs", want)
			}
			revoke(r)
			<-r.done
			if e := ends.all()[0]; e.Reason != want || e.Kept != 0 || (e.Succeeded == 1) != (want == handler.StreamEnded) {
				t.Errorf("%v: claim end %+v", want, e)
			}
			r.assign()
			r.group.end()
		})
	}
}
