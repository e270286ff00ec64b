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
)

// saramas is sarama's session: its member id may change while it goes on.
type saramas struct {
	sarama.ConsumerGroupSession
	memberID atomic.Value // string
}

func (*saramas) Context() context.Context { return context.Background() }
func (s *saramas) MemberID() string       { return s.memberID.Load().(string) }
func (*saramas) GenerationID() int32      { return 1 }

func session() *saramas {
	s := &saramas{}
	s.memberID.Store("m-1")
	return s
}

// stored answers each commit well.
func stored(_ context.Context, r commit.Request) ([]error, error) {
	return make([]error, len(r.Offsets)), nil
}

// lease runs the lease of a session until it is over, and returns how long it was and why the tasks were cancelled.
func lease(t *testing.T, c consumer.Coordinator) (took time.Duration, cause error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m, begin := newConsumer(t, nil).Detach(ctx, stored), time.Now()
	own, end := m.Begin(session(), c)
	<-own.Work().Done()
	took, cause = time.Since(begin), context.Cause(own.Work())
	end()
	cancel()
	m.Wait()
	return took, cause
}

// beats answers heartbeats by their number; the first is 0.
func beats(answer func(ctx context.Context, n int) error) func(context.Context) error {
	n := -1
	return func(ctx context.Context) error {
		n++
		return answer(ctx, n)
	}
}

func silence(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// G12, B28: a member that the coordinator has removed does not wait for the end of the lease.
func TestARemovalCancelsTheTasksAtOnce(t *testing.T) {
	for _, removal := range []error{sarama.ErrUnknownMemberId, sarama.ErrFencedInstancedId} {
		synctest.Test(t, func(t *testing.T) {
			took, cause := lease(t, consumer.Coordinator{Beat: beats(func(_ context.Context, n int) error {
				if n < 3 {
					return nil
				}
				return removal
			})})
			if !errors.Is(cause, handler.ErrLost) || !errors.Is(cause, removal) {
				t.Errorf("cancelled with %v, want a loss by %v", cause, removal)
			}
			if want := 3 * plan(t).HeartbeatInterval; took != want {
				t.Errorf("%v: cancelled after %v, want at the answer, %v", removal, took, want)
			}
		})
	}
}

// G12: what counts is when a good heartbeat was sent, for the broker's clock may run since then.
func TestTheLeaseCountsFromTheSendingOfAHeartbeat(t *testing.T) {
	const late = 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		took, cause := lease(t, consumer.Coordinator{Beat: beats(func(ctx context.Context, n int) error {
			if n > 0 {
				return silence(ctx)
			}
			time.Sleep(late)
			return nil
		})})
		if want := plan(t).Lease; took != want {
			t.Errorf("cancelled after %v, want %v: the only good heartbeat was sent at once and answered after %v", took, want, late)
		}
		if lost, ok := errors.AsType[*consumer.LeaseError](cause); !ok || lost.Silence != took {
			t.Errorf("cancelled with %v, want a silence of %v", cause, took)
		}
	})
}

// G12: the broker removes a member that sends heartbeats and does not join. One whose join is pending keeps its partitions for as long
// as the round is open, be it that others take longer than its own rebalance timeout.
func TestOnlyAJoinThatIsOutKeepsTheLeaseInARound(t *testing.T) {
	for name, test := range map[string]struct{ joins, until time.Duration }{
		"no join":                              {0, 0},
		"a join that lasts":                    {10 * time.Second, 20 * time.Minute},
		"a join that fails, and none after it": {10 * time.Second, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				joining := func() bool { at := time.Since(begin); return at >= test.joins && at < test.until }
				took, cause := lease(t, consumer.Coordinator{Joining: joining, Beat: func(ctx context.Context) error {
					if time.Since(begin) > time.Hour {
						return silence(ctx)
					}
					return sarama.ErrRebalanceInProgress
				}})
				p := plan(t)
				bound := test.until + p.Lease // counted from the last heartbeat within the join
				if took > bound || took < bound-p.HeartbeatInterval || !errors.Is(cause, handler.ErrLost) {
					t.Errorf("cancelled after %v with %v, want at most %v and one heartbeat less at least", took, cause, bound)
				}
			})
		})
	}
}

// The end of a round is news from the coordinator, as a good heartbeat is.
func TestAnAssignmentBeginsTheLeaseAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m, begin := newConsumer(t, nil).Detach(ctx, stored), time.Now()
		own, end := m.Begin(session(), consumer.Coordinator{Beat: silence})
		defer end()
		const after = 20 * time.Second
		time.Sleep(after)
		m.Assign(nil, 2)
		<-own.Work().Done()
		if took, want := time.Since(begin), after+plan(t).Lease; took != want {
			t.Errorf("cancelled after %v, want %v", took, want)
		}
	})
}
