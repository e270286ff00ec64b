package ownership_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// A thousand rebalances of real groups, in all, in which tasks are taken over, end between two claims, and are cancelled: what a member holds is
// level. It has a process to itself, for others count in this one.
func TestAThousandRebalancesLeaveNothingBehind(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		const warmUp, cycles = 10, 90 // of two rebalances each, at least
		c := newChurn(t, s)
		c.cycle(warmUp)
		before := c.weigh()
		c.cycle(cycles)
		after := c.weigh()
		t.Logf("before %+v, after %+v, taken over %d times", before, after, c.adopted())
		if after.Goroutines > before.Goroutines+5 {
			c.Errorf("%d goroutines, %d before", after.Goroutines, before.Goroutines)
		}
		if after.Heap > before.Heap+cycles<<10 {
			c.Errorf("%d bytes are in use, %d before", after.Heap, before.Heap)
		}
		if s.Eager && c.adopted() == 0 { // how often is up to the machine
			c.Errorf("no task was taken over in %d cycles: the rebalances have not met them", cycles)
		}
		if n := c.Count(kit.Assigned, kit.By("a")); n < 2*(warmUp+cycles) {
			c.Errorf("%d rebalances, want at least %d", n, 2*(warmUp+cycles))
		}
		c.member.Stop()
		c.WantSound(nil)
	}, kit.Fake)
}

// churn is a group of a member in a process of its own, and a rival that comes and goes.
type churn struct {
	*kit.Group
	member *kit.Process
	rival  *rival
	other  string // a topic, in which the rival is interested as a rule
	turns  int
}

func newChurn(t *testing.T, s kit.Setting) *churn {
	t.Helper()
	g := ledByOthers(t, s, 3)
	g.Input.Heartbeat = 10 * time.Millisecond
	c := &churn{Group: g, other: g.Topic + "-other"}
	must(t, g.Broker.CreateTopic(c.other, 1))
	g.Produce(1)
	c.member = g.StartProcess("a", "moments")
	g.UntilSeen(1, kit.Started)
	c.rival = newRival(t, g, "rival", terms{})
	return c
}

// moments is a handler whose tasks take from no time to that of several rebalances.
func moments(*kit.Gate) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		select {
		case <-time.After(time.Duration(rand.IntN(600)) * time.Millisecond):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// cycle lets the rival join and leave n times. Now and then more messages come, and some of them are at work before it goes on. Each tenth
// time the rival takes partitions.
func (c *churn) cycle(n int) {
	for range n {
		if c.turns++; c.turns%5 == 1 {
			started := c.Count(kit.Started)
			c.Produce(2)
			c.UntilSeen(started+1, kit.Started)
		}
		if c.rival.terms.topic = c.other; c.turns%10 == 0 {
			c.rival.terms.topic = c.Topic
		}
		c.rival.register()
		c.rival.join()
		c.rival.follow()
		c.rival.leave()
		c.Until("the member is alone again", c.alone)
	}
}

// alone says that the group is at rest without the rival.
func (c *churn) alone() bool {
	info := c.Broker.(*kafkatest.FakeBroker).Cluster.GroupInfo(c.Name)
	return info.State == "Stable" && len(info.Members) == 1
}

// weigh waits until all is handled, and wants the member to hold its claims and nothing else.
func (c *churn) weigh() kit.Weight {
	c.UntilAllHandled()
	w := c.member.Weigh()
	if w.Claims != 3 || w.Running != 0 || w.Stray != 0 || w.Kept != 0 {
		c.Errorf("at rest the member holds %+v", w)
	}
	return w
}

func (c *churn) adopted() int { return c.Count(kit.Logged, kit.Saying("are taken over")) }
