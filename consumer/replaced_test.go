package consumer_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

type generation struct {
	*ending
	n int32
}

func (g *generation) GenerationID() int32 { return g.n }

type claimOf struct {
	*oneMessage
	initial, end int64
}

func (c *claimOf) InitialOffset() int64 { return c.initial }

func (c *claimOf) HighWaterMarkOffset() int64 { return c.end }

func claimWith(initial int64, value string, n int) *claimOf {
	c := &claimOf{&oneMessage{make(chan *sarama.ConsumerMessage, 64)}, initial, int64(n)}
	for i := range n {
		c.messages <- &sarama.ConsumerMessage{Topic: "t", Offset: int64(i), Value: []byte(value), Timestamp: time.Unix(int64(i), 0)}
	}
	return c
}

// renewal is a topic that is deleted and created again while the group rebalances, so that the commit of its start is refused until the
// session has ended.
type renewal struct {
	*consumer.Member
	t     *testing.T
	c     *consumer.Consumer
	last  time.Duration // of the last task of the old one
	heard sarama.OnAssignmentBalanceStrategy

	mu      sync.Mutex
	ran     map[string]int // by value
	stored  member.Position
	refused []int32 // generations whose commits are refused
}

func newRenewal(ctx context.Context, t *testing.T, last time.Duration) *renewal {
	t.Helper()
	r := &renewal{t: t, last: last, ran: map[string]int{}}
	c, err := consumer.New(withGraces(t), handler.Func(r.handle))
	if err != nil {
		t.Fatal(err)
	}
	r.c, r.Member = c, c.DetachWith(ctx, r.send, r.committed)
	r.heard = r.Tasks().BalanceStrategies()[0].(sarama.OnAssignmentBalanceStrategy)
	return r
}

func (r *renewal) handle(ctx context.Context, m *handler.Task) error {
	r.mu.Lock()
	r.ran[string(m.Value)]++
	r.mu.Unlock()
	if string(m.Value) != "old" || m.Offset != 9 {
		return nil
	}
	select {
	case <-time.After(r.last):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send answers as a coordinator does between a join and a sync.
func (r *renewal) send(_ context.Context, req commit.Request) ([]error, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	errs := make([]error, len(req.Offsets))
	for i, o := range req.Offsets {
		if slices.Contains(r.refused, req.Generation) {
			errs[i] = sarama.ErrRebalanceInProgress
			continue
		}
		r.stored = o.Position
	}
	return errs, nil
}

func (r *renewal) committed() member.Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stored
}

// consume claims the partition in a generation.
func (r *renewal) consume(s sarama.ConsumerGroupSession, n int32, c *claimOf) <-chan error {
	r.heard.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{"t": {0}}}, n)
	done := make(chan error, 1)
	go func() { done <- r.Tasks().ConsumeClaim(s, c) }() // ends with the session
	return done
}

func (r *renewal) await(done <-chan error) {
	r.t.Helper()
	if err := <-done; err != nil {
		r.t.Error(err)
	}
}

// Nothing of the old topic is taken over, and all of the new one runs.
func TestTheAccountOfAReplacedTopicEnds(t *testing.T) {
	for name, last := range map[string]time.Duration{"a task runs": time.Hour, "no task runs": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				r := newRenewal(ctx, t, last)
				within, end := context.WithCancelCause(ctx)
				own, stop := r.Begin(&generation{&ending{saramas: session(), ctx: within}, 1}, consumer.Coordinator{Beat: func(context.Context) error { return nil }})
				defer stop()
				first := r.consume(own, 1, claimWith(0, "old", 10))
				time.Sleep(5 * time.Second)
				r.refuses(1)
				r.c.Replaced("t")
				end(context.Cause(r.RoundContext())) // sarama ends the session with that of Consume
				r.await(first)
				r.EndSession()
				// The new topic is shorter: sarama finds the commit out of range, and starts at the oldest.
				second := r.consume(r.Again(&generation{&ending{saramas: session(), ctx: ctx}, 2}), 2, claimWith(sarama.OffsetOldest, "new", 3))
				time.Sleep(time.Minute)
				r.mu.Lock()
				if n := r.ran["new"]; n != 3 {
					t.Errorf("%d of the 3 messages of the new topic ran; committed %d", n, r.stored.Offset)
				}
				r.mu.Unlock()
				cancel()
				r.await(second)
				r.Wait()
			})
		})
	}
}
