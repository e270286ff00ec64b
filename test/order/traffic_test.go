package order_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// counter counts OffsetCommit requests.
type counter struct {
	mu    sync.Mutex
	times []time.Time
}

func countCommits(b *kafkatest.FakeBroker, which func(*kmsg.OffsetCommitRequest) bool) *counter {
	c := &counter{}
	b.Cluster.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.Cluster.KeepControl()
		if which(r.(*kmsg.OffsetCommitRequest)) {
			c.add()
		}
		return nil, nil, false
	})
	return c
}

func anyCommit(*kmsg.OffsetCommitRequest) bool { return true }

// moreThanStamps is for requests that say that something has finished.
func moreThanStamps(r *kmsg.OffsetCommitRequest) bool {
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if p.Offset > 0 || p.Metadata != nil && len(*p.Metadata) > longestStamp {
				return true
			}
		}
	}
	return false
}

// longestStamp is how long a text without a map is at most.
const longestStamp = 45

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = append(c.times, time.Now())
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times)
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
	g, requests := s.Group(t, partitions), countCommits(s.Broker.(*kafkatest.FakeBroker), moreThanStamps)
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

// A member that takes many partitions over at once, from nobody and from another member, stamps them all in a few requests. A stamp does not wait
// for others, so how many come together depends on how fast sarama begins the claims: 4 to 11 requests were seen.
func TestStampsOfManyPartitionsShareARequest(t *testing.T) {
	const partitions, most = 80, 80 / 4
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g, gate := s.Group(t, partitions), kit.NewGate()
		g.Input.StopGrace, g.Slots = config.NoGrace, partitions
		g.Produce(1)
		requests := countCommits(s.Broker.(*kafkatest.FakeBroker), anyCommit)
		for _, name := range []string{"a", "b"} {
			before := requests.count()
			m := g.Start(name, gate.Hold)
			g.UntilSeen(partitions, kit.Started, kit.By(name))
			sent := requests.count() - before
			t.Logf("%s has sent %d requests for %d stamps", name, sent, partitions)
			if sent == 0 || sent > most {
				g.Errorf("%s has sent %d requests for %d stamps, want 1 to %d", name, sent, partitions, most)
			}
			m.Stop()
		}
	}, kit.Fake)
}
