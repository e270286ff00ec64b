package consumer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// led is a member whose group plans with our strategy, and which has a task on partition 0 of t.
type led struct {
	t       *testing.T
	m       *consumer.Member
	offer   sarama.SubscriptionUserDataBalanceStrategy
	finish  func() // the task
	answers atomic.Bool
	joining atomic.Bool
	waits   atomic.Bool // others do
	deaf    atomic.Bool // the task is
	own     member.Session
	stop    context.CancelFunc // of Run
	claimed chan struct{}      // closed when the claim has ended

	log        bytes.Buffer
	rebalances []consumer.Rebalance
	plans      []consumer.GroupPlan
}

// OnPlan implements consumer.PlanHook.
func (l *led) OnPlan(p consumer.GroupPlan) { l.plans = append(l.plans, p) }

// OnRebalance implements consumer.RebalanceHook.
func (l *led) OnRebalance(r consumer.Rebalance) { l.rebalances = append(l.rebalances, r) }

func beginLed(t *testing.T, in config.Input) *led {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	plan, err := in.Plan()
	if err != nil {
		t.Fatal(err)
	}
	cfg := sound(t)
	cfg.Plan = plan
	running, done := make(chan struct{}), make(chan struct{})
	l := &led{t: t, finish: func() { close(done) }, claimed: make(chan struct{})}
	cfg.Logger, cfg.Hooks = slog.New(slog.NewTextHandler(&l.log, nil)), []any{l}
	c, err := consumer.New(cfg, l.task(running, done))
	if err != nil {
		t.Fatal(err)
	}
	l.answers.Store(true)
	l.m = c.Detach(ctx, func(_ context.Context, r commit.Request) ([]error, error) {
		if !l.answers.Load() {
			return nil, errors.New("connection reset")
		}
		return make([]error, len(r.Offsets)), nil
	})
	run, stop := context.WithCancel(ctx)
	l.stop = stop
	l.m.RunsIn(run)
	own, end := l.m.Begin(&ending{saramas: session(), ctx: run}, consumer.Coordinator{
		Joining: l.joining.Load, Beat: l.beat,
	})
	l.own = own
	t.Cleanup(func() {
		l.m.Lose()
		cancel()
		end()
		<-l.claimed
		_ = c.Wait(context.Background())
		l.m.Wait()
	})
	l.offer = l.m.Offer()[0].(sarama.SubscriptionUserDataBalanceStrategy)
	l.assign(1, assign.Assignment{})
	go func() { // ends with ctx
		defer close(l.claimed)
		if err := l.m.Tasks().ConsumeClaim(own, newOneMessage()); err != nil {
			t.Error(err)
		}
	}()
	<-running
	return l
}

// task is the only one.
func (l *led) task(running, done chan struct{}) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		close(running)
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			if l.deaf.Load() {
				<-done
			}
			return context.Cause(ctx)
		}
	}
}

func (l *led) beat(context.Context) error {
	if l.waits.Load() {
		return sarama.ErrRebalanceInProgress
	}
	return nil
}

func (l *led) assign(generation int32, a assign.Assignment) {
	l.offer.(sarama.OnAssignmentBalanceStrategy).OnAssignment(&sarama.ConsumerGroupMemberAssignment{
		Topics: map[string][]int32{"t": {0}}, UserData: a.Encode([]string{"t"}),
	}, generation)
}

func (l *led) report() assign.Report {
	l.t.Helper()
	data, err := l.offer.SubscriptionUserData([]string{"t"})
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := assign.ParseReport(data, []string{"t"})
	if err != nil {
		l.t.Fatal(err)
	}
	return *r
}

var marked = assign.Assignment{HandOver: assign.Partitions{"t": {0}}, StampedSince: 1}

// asked says that the session has ended so that the member joins again.
func (l *led) asked() bool {
	synctest.Wait()
	return l.m.RoundContext().Err() != nil
}

// The member asks for a round when a partition that is to be handed over is idle and committed, not too soon after the one before, and not
// while one is under way.
func TestARoundIsAskedForWhenItIsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour, StopGrace: config.NoGrace})
		l.assign(2, marked)
		begin := time.Now()
		if r := l.report(); r.Requests != 0 || !r.Stamps || r.StampedSince != 1 || len(r.Busy["t"]) != 1 || r.Draining {
			t.Errorf("reported %+v", r)
		}
		l.answers.Store(false)
		l.finish()
		time.Sleep(9 * time.Second)
		if l.asked() {
			t.Fatal("asked before the commit was answered")
		}
		l.answers.Store(true)
		l.joining.Store(true)
		time.Sleep(3 * time.Second)
		if l.asked() {
			t.Fatal("asked while a join is out")
		}
		l.joining.Store(false)
		time.Sleep(100 * time.Millisecond)
		if !l.asked() {
			t.Fatal("not asked")
		}
		if cause := context.Cause(l.m.RoundContext()); !errors.Is(cause, handler.ErrRevoked) || strings.Contains(cause.Error(), "revoked") {
			t.Errorf("asked by %v after %v", cause, time.Since(begin))
		}
		if r := l.report(); r.Requests != 1 || len(r.Marked["t"]) != 1 || r.Busy != nil {
			t.Errorf("reported %+v", r)
		}
	})
}

func TestRoundsAreSpaced(t *testing.T) {
	for name, test := range map[string]struct {
		in          config.Input
		least, most time.Duration
	}{
		"cooperative":             {config.Input{Expected: time.Hour}, time.Second, 1500 * time.Millisecond},
		"cooperative, fast beats": {config.Input{Expected: time.Hour, Heartbeat: 100 * time.Millisecond}, 500 * time.Millisecond, 750 * time.Millisecond},
		"eager":                   {config.Input{Expected: time.Hour, Eager: true}, 3 * time.Second, 4500 * time.Millisecond},
		"eager, fast beats":       {config.Input{Expected: time.Hour, Eager: true, Heartbeat: 100 * time.Millisecond}, time.Second, 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := beginLed(t, test.in)
				l.assign(2, marked)
				l.finish()
				time.Sleep(test.least - time.Millisecond)
				if l.asked() {
					t.Error("asked too soon")
				}
				time.Sleep(test.most - test.least + 2*time.Millisecond)
				if !l.asked() {
					t.Error("not asked")
				}
			})
		})
	}
}

// A commit that is refused for good does not keep the partition from moving: its next owner runs again what is not stored.
func TestACommitThatIsNeverAnsweredHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		l.answers.Store(false)
		l.assign(2, marked)
		l.finish()
		time.Sleep(9900 * time.Millisecond)
		if l.asked() {
			t.Error("asked without an answer")
		}
		time.Sleep(2 * time.Second)
		if !l.asked() {
			t.Error("not asked")
		}
	})
}

// What has ended and has no answer yet is busy: its next owner would run it again. It is so for no longer than it is waited for.
func TestWhatIsNotStoredIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		l.answers.Store(false)
		l.finish()
		for _, c := range []struct {
			after time.Duration
			busy  bool
		}{{time.Second, true}, {8 * time.Second, true}, {2 * time.Second, false}} {
			time.Sleep(c.after)
			if r := l.report(); (len(r.Busy["t"]) == 1) != c.busy {
				t.Errorf("want busy %v, reported %+v", c.busy, r)
			}
		}
		l.answers.Store(true)
		time.Sleep(5 * time.Second)
		l.answers.Store(false)
		next := l.own.Committer("t", 0)
		defer func() { // gives it up
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			next.Release(gone)
		}()
		next.Commit(member.Position{Offset: 2}) // the wait for this one has nothing to do with the one before
		time.Sleep(9 * time.Second)
		if r := l.report(); len(r.Busy["t"]) != 1 {
			t.Errorf("reported %+v", r)
		}
	})
}

// A task that is past the hold limit is told to the leader, who stops it.
func TestATaskPastTheHoldLimitIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour, HoldLimit: 30 * time.Minute})
		l.assign(2, marked)
		time.Sleep(29 * time.Minute)
		if l.asked() {
			t.Error("asked before the limit")
		}
		time.Sleep(2 * time.Minute)
		if !l.asked() {
			t.Error("not asked")
		}
		if r := l.report(); len(r.Over["t"]) != 1 {
			t.Errorf("reported %+v", r)
		}
	})
}

// Over a group of the user nobody knows whether the broker still does: what was heard last is what is owned.
func TestOverAGroupOfTheUserWhatIsOwnedIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		l.assign(7, marked)
		borrowed := l.m.Borrowed()
		var r assign.Report
		r.Generation, r.Owned = 7, assign.Partitions{"t": {0}}
		borrowed(&r)
		if r.Generation != 7 || len(r.Owned["t"]) != 1 || r.Stamps {
			t.Errorf("reported %+v", r)
		}
	})
}

// E8. A static member that was killed in a drain and is back is given nothing, for the broker has what it said last: it asks for a round.
func TestAMemberThatIsTakenForOneThatDrainsAsksForARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		l.assign(2, assign.Assignment{Drained: true})
		time.Sleep(2 * time.Second)
		if !l.asked() || l.report().Draining {
			t.Errorf("asked %v, reported %+v", l.asked(), l.report())
		}
	})
}

// Without a mark nothing is asked for, and a mark that is taken back counts no longer.
func TestNoMarkNoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		l.assign(2, marked)
		l.assign(3, assign.Assignment{})
		l.finish()
		time.Sleep(time.Hour)
		if l.asked() {
			t.Error("asked")
		}
	})
}

// A member that the broker no longer knows has lost everything.
func TestAMemberThatIsLostReportsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		l.m.Lose()
		if r := l.report(); r.Generation != 0 || r.Owned != nil || r.Marked != nil || r.Busy != nil || r.StampedSince != 0 {
			t.Errorf("reported %+v", r)
		}
	})
}
