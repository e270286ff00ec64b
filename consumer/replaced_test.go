package consumer_test

import (
	"context"
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

// B3: a topic is deleted and created again while the group rebalances, so that the commit of its start is refused until the session has

// ended. The account of the old topic lingers, is taken over, and all of the new topic that lies below it is passed over.

// A topic is deleted and created again while the group rebalances, so that the commit of its start is refused until the session has ended.
// Nothing is taken over of the old one.
func TestTheAccountOfAReplacedTopicEnds(t *testing.T) {
	for name, last := range map[string]time.Duration{"a task runs": time.Hour, "no task runs": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var mu sync.Mutex
				var ran []string
				c, err := consumer.New(withGraces(t), handler.Func(func(ctx context.Context, m *handler.Task) error {
					mu.Lock()
					ran = append(ran, string(m.Value))
					mu.Unlock()
					if string(m.Value) == "old" && m.Offset == 9 {
						select {
						case <-time.After(last):
						case <-ctx.Done():
							return ctx.Err()
						}
					}
					return nil
				}))
				if err != nil {
					t.Fatal(err)
				}
				stored, refuse := member.Position{Offset: 0}, false
				m := c.DetachWith(ctx, func(_ context.Context, r commit.Request) ([]error, error) {
					mu.Lock()
					defer mu.Unlock()
					errs := make([]error, len(r.Offsets))
					for i, o := range r.Offsets {
						if refuse && r.Generation == 1 {
							errs[i] = sarama.ErrRebalanceInProgress // the group is between a join and a sync, and ILLEGAL_GENERATION after
						} else {
							stored = o.Position
						}
					}
					return errs, nil
				}, func() member.Position { mu.Lock(); defer mu.Unlock(); return stored })
				heard := m.Tasks().BalanceStrategies()[0].(sarama.OnAssignmentBalanceStrategy)
				assign := func(n int32) {
					heard.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{"t": {0}}}, n)
				}
				within, end := context.WithCancelCause(ctx)
				own, stop := m.Begin(&generation{&ending{saramas: session(), ctx: within}, 1}, consumer.Coordinator{Beat: func(context.Context) error { return nil }})
				defer stop()
				assign(1)
				first := claimWith(0, "old", 10)
				done := make(chan error, 1)
				go func() { done <- m.Tasks().ConsumeClaim(own, first) }()
				time.Sleep(5 * time.Second)
				mu.Lock()
				refuse = true
				mu.Unlock()
				c.Replaced("t")
				end(context.Cause(m.RoundContext())) // sarama ends the session with that of Consume
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				m.EndSession()
				// the new topic has 3 messages; sarama finds the commit out of range and starts at the oldest
				again := m.Again(&generation{&ending{saramas: session(), ctx: ctx}, 2})
				assign(2)
				second := claimWith(sarama.OffsetOldest, "new", 3)
				go func() { done <- m.Tasks().ConsumeClaim(again, second) }()
				time.Sleep(time.Minute)
				mu.Lock()
				n := 0
				for _, v := range ran {
					if v == "new" {
						n++
					}
				}
				if n != 3 {
					t.Errorf("%d of the 3 messages of the new topic ran; committed %+v", n, stored.Offset)
				}
				mu.Unlock()
				close(second.messages)
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				m.Wait()
			})
		})
	}
}
