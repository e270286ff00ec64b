package order_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// counter counts the OffsetCommit requests that carry more than a stamp.
type counter struct {
	mu    sync.Mutex
	times []time.Time
}

func countCommits(b *kafkatest.FakeBroker) *counter {
	c := &counter{}
	b.Cluster.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.Cluster.KeepControl()
		for _, t := range r.(*kmsg.OffsetCommitRequest).Topics {
			for _, p := range t.Partitions {
				if p.Offset > 0 || p.Metadata != nil && len(*p.Metadata) > longestStamp {
					c.add()
					return nil, nil, false
				}
			}
		}
		return nil, nil, false
	})
	return c
}

// longestStamp is how long a text without a map is at most.
const longestStamp = 45

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = append(c.times, time.Now())
}

// wantPaced wants at most one request in each 100 ms, of those between the first and the last one.
func (c *counter) wantPaced(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.times) < 10 {
		t.Fatalf("%d requests", len(c.times))
	}
	lasted := c.times[len(c.times)-1].Sub(c.times[0])
	t.Logf("%d requests in %v", len(c.times), lasted.Round(time.Millisecond))
	if most := 1 + int(lasted/(100*time.Millisecond)); len(c.times) > most {
		t.Errorf("%d requests in %v, want at most %d", len(c.times), lasted.Round(time.Millisecond), most)
	}
}

// Short tasks on ten partitions are committed together: one request of a member in 100 ms at most.
func TestShortTasksCommitTenTimesASecondAtMost(t *testing.T) {
	t.Parallel()
	for _, task := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		t.Run(task.String(), func(t *testing.T) {
			kit.EachOrder(t, func(t *testing.T, s kit.Setting) { wantPaced(t, s, task) }, kit.Quietly([]kit.Place{kit.Fake})...)
		})
	}
}

func wantPaced(t *testing.T, s kit.Setting, task time.Duration) {
	t.Helper()
	const partitions = 10
	g, requests := s.Group(t, partitions), countCommits(s.Broker.(*kafkatest.FakeBroker))
	g.Input.Expected, g.Slots = task, partitions
	g.Produce(int(3 * time.Second / task))
	m := g.Start("a", func(ctx context.Context, _ *handler.Task) error {
		select {
		case <-time.After(task):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	g.UntilAllHandled()
	requests.wantPaced(t)
	m.Stop()
	g.WantSound(nil)
}
