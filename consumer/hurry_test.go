package consumer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// G3: only our own heartbeats hear that others wait for a member that stops.
func TestAStopHearsThatOthersWait(t *testing.T) {
	for name, test := range map[string]struct {
		stops, joins bool
		answer       error
		want         bool
	}{
		"others wait":           {stops: true, answer: sarama.ErrRebalanceInProgress, want: true},
		"it waits with them":    {stops: true, joins: true, answer: sarama.ErrRebalanceInProgress},
		"it does not stop":      {answer: sarama.ErrRebalanceInProgress},
		"there is no rebalance": {stops: true},
		"nobody answers":        {stops: true, answer: errors.New("connection reset")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := newConsumer(t, nil)
				m := c.Detach(ctx, stored)
				if test.stops {
					c.SetStopping()
				}
				own, end := m.Begin(session(), consumer.Coordinator{
					Beat: func(context.Context) error { return test.answer }, Joining: func() bool { return test.joins },
				})
				defer end()
				time.Sleep(2 * plan(t).HeartbeatInterval)
				heard := false
				select {
				case <-own.Hurry():
					heard = true
				default:
				}
				if heard != test.want {
					t.Errorf("heard %v, want %v", heard, test.want)
				}
			})
		})
	}
}

// oneMessage is a claim with a message.
type oneMessage struct{ messages chan *sarama.ConsumerMessage }

func newOneMessage() *oneMessage {
	c := &oneMessage{make(chan *sarama.ConsumerMessage, 1)}
	c.messages <- &sarama.ConsumerMessage{Topic: "t"}
	return c
}

func (*oneMessage) Topic() string                              { return "t" }
func (*oneMessage) Partition() int32                           { return 0 }
func (*oneMessage) InitialOffset() int64                       { return 0 }
func (*oneMessage) HighWaterMarkOffset() int64                 { return 1 }
func (c *oneMessage) Messages() <-chan *sarama.ConsumerMessage { return c.messages }

// G3, for a member that stops between two sessions, with tasks that the next one would have taken over.
func TestTasksBetweenSessionsHurryAtAStop(t *testing.T) {
	for others, want := range map[bool]time.Duration{true: 5 * time.Second, false: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var cancelled time.Time
			c, err := consumer.New(withGraces(t), handler.Func(func(ctx context.Context, _ *handler.Task) error {
				<-ctx.Done()
				cancelled = time.Now()
				return context.Cause(ctx)
			}))
			if err != nil {
				t.Fatal(err)
			}
			m := c.Detach(ctx, stored)
			within, end := context.WithCancelCause(ctx)
			beat := func(context.Context) error {
				if others {
					return sarama.ErrRebalanceInProgress
				}
				return nil
			}
			own, stop := m.Begin(&ending{saramas: session(), ctx: within}, consumer.Coordinator{Beat: beat})
			defer stop()
			keepATask(t, m, own, end)
			c.SetStopping()
			begin := time.Now()
			m.Dismiss()
			if err := c.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			if took := cancelled.Sub(begin); took < want || took > want+plan(t).HeartbeatInterval {
				t.Errorf("others wait: %v: cancelled after %v, want %v and at most a heartbeat more", others, took, want)
			}
			cancel()
			m.Wait()
		})
	}
}

// keepATask claims a partition with one message, and ends the session in the middle of its task.
func keepATask(t *testing.T, m *consumer.Member, own member.Session, end context.CancelCauseFunc) {
	t.Helper()
	heard := m.Tasks().BalanceStrategies()[0].(sarama.OnAssignmentBalanceStrategy)
	heard.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{"t": {0}}}, 1)
	claim := newOneMessage()
	done := make(chan error, 1)
	go func() { done <- m.Tasks().ConsumeClaim(own, claim) }() // ends with the session
	time.Sleep(time.Second)                                    // the stamp is stored
	synctest.Wait()
	end(sarama.ErrRebalanceInProgress)
	if err := <-done; err != nil || m.Tasks().Status().Kept != 1 {
		t.Fatalf("%d tasks go on, want 1: %v", m.Tasks().Status().Kept, err)
	}
}

// A task that ends at a stop between two sessions is committed, and the answer is there before the member leaves.
func TestAStopBetweenSessionsCommitsWhatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c, err := consumer.New(withGraces(t), handler.Func(func(context.Context, *handler.Task) error {
			time.Sleep(10 * time.Second)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		var answered int64
		m := c.Detach(ctx, func(_ context.Context, r commit.Request) ([]error, error) {
			time.Sleep(500 * time.Millisecond)
			answered = r.Offsets[0].Offset
			return make([]error, len(r.Offsets)), nil
		})
		within, end := context.WithCancelCause(ctx)
		own, stop := m.Begin(&ending{saramas: session(), ctx: within}, consumer.Coordinator{Beat: func(context.Context) error { return nil }})
		defer stop()
		keepATask(t, m, own, end)
		m.Dismiss()
		if answered != 1 {
			t.Errorf("offset %d has been answered when the member leaves, want 1", answered)
		}
		cancel()
		m.Wait()
	})
}

// withGraces is a configuration with a long grace of a stop and a short one of a rebalance.
func withGraces(t *testing.T) consumer.Config {
	t.Helper()
	p, err := config.Input{Expected: time.Hour, StopGrace: time.Minute, Grace: 5 * time.Second}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	cfg := sound(t)
	cfg.Plan = p
	return cfg
}
