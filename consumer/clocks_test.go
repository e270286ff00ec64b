package consumer_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// The wall clock was ahead when the member began and is put right: a machine that is suspended later is noticed all the same.
func TestAClockThatIsPutBackHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var suspended atomic.Bool
		m, work := beginSilent(t, nil, func(c *consumer.Coordinator) {
			c.Beat = func(ctx context.Context) error {
				if suspended.Load() {
					return silence(ctx)
				}
				return nil
			}
		})
		m.SetClock(func() time.Time { return time.Now().Round(0).Add(time.Hour) })
		time.Sleep(time.Minute)
		m.SetClock(func() time.Time { return time.Now().Round(0) })
		time.Sleep(time.Minute)
		synctest.Wait()
		suspended.Store(true)
		begin := time.Now()
		m.SetClock(func() time.Time { return time.Now().Round(0).Add(30 * time.Minute) })
		<-work.Done()
		if took, want := time.Since(begin), plan(t).CallTimeout+2*plan(t).HeartbeatInterval; took > want {
			t.Errorf("cancelled after %v, want %v at most", took, want)
		}
	})
}

// An assignment whose sync is long ago does not put the time of the last good heartbeat back.
func TestTheSilenceIsThatOfTheLastGoodHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var removed atomic.Bool
		m, work := beginSilent(t, nil, func(c *consumer.Coordinator) {
			c.Sync = func() link.Sync { return link.Sync{} } // the connection is a new one
			c.Beat = func(context.Context) error {
				if removed.Load() {
					return sarama.ErrUnknownMemberId
				}
				return nil
			}
		})
		time.Sleep(time.Minute + time.Second/2)
		m.Assign(nil, 2)
		removed.Store(true)
		<-work.Done()
		lost, _ := errors.AsType[*consumer.LeaseError](context.Cause(work))
		if lost.Silence > plan(t).HeartbeatInterval+time.Second {
			t.Errorf("the last good heartbeat was sent at most %v ago, told %v", plan(t).HeartbeatInterval, lost.Silence)
		}
	})
}

// A plan that cancels first gives tasks the grace of a stop to wind down, and what they return counts, between two sessions too.
func TestAStopBetweenSessionsLetsTasksWindDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cfg := withGraces(t)
		if !cfg.Plan.StopCancelFirst {
			p := *cfg.Plan
			p.StopCancelFirst = true
			cfg.Plan = &p
		}
		c, err := consumer.New(cfg, handler.Func(func(ctx context.Context, _ *handler.Task) error {
			<-ctx.Done()
			time.Sleep(2 * time.Second) // saves its work
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		var answered atomic.Int64
		m := c.Detach(ctx, func(_ context.Context, r commit.Request) ([]error, error) {
			answered.Store(r.Offsets[0].Offset)
			return make([]error, len(r.Offsets)), nil
		})
		within, end := context.WithCancelCause(ctx)
		own, stop := m.Begin(&ending{saramas: session(), ctx: within}, consumer.Coordinator{Beat: func(context.Context) error { return nil }})
		defer stop()
		keepATask(t, m, own, end)
		begin := time.Now()
		m.Dismiss()
		if s := m.Tasks().Status(); answered.Load() != 1 || s.Strays != 0 {
			t.Errorf("after %v: committed %d, want 1: %+v", time.Since(begin), answered.Load(), s.Counts)
		}
		cancel()
		m.Wait()
	})
}
