package order_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// G4: rebalances in which a member keeps its partitions start none of its tasks again: each message is started once, and in its order.
func TestKeptPartitionsStartNothingAgain(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		const n = 5
		g := s.Group(t, 8)
		g.Produce(n)
		gate, running := kit.NewGate(), 8*g.AtOnce(n)
		a := g.Start("a", gate.Hold)
		g.UntilSeen(running, kit.Started)
		other := g.Topic + "-other"
		if err := g.Broker.CreateTopic(other, 1); err != nil {
			t.Fatal(err)
		}
		// One change after the other: a member that misses a generation has no proof, see TestTaskIsNotAdoptedInDoubt.
		rebalanced := func(what string, before int) {
			g.Until(what, func() bool {
				s := a.Status()
				return s.Rebalances > before && s.Running == running && len(a.Owns()) == 8
			})
		}
		for _, name := range []string{"b", "c", "d"} { // each comes and goes, with a topic of its own
			before := a.Status().Rebalances
			b := g.Start(name, gate.Hold, func(c *consumer.Config) { c.Topics = []string{other} })
			g.Until(name+" is a member", func() bool { return b.Status().State == consumer.StateMember && len(b.Owns()) == 1 })
			rebalanced("a works on all beside "+name, before)
			before = a.Status().Rebalances
			b.Stop()
			rebalanced("a works on all without "+name, before)
		}
		rebalances := a.Status().Rebalances
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(8*n, kit.Started)
		g.WantAtMost(0, kit.Cancelled)
		g.WantSound(nil)
		if rebalances < 7 { // the first assignment, three joins, three leaves
			g.Errorf("a was in %d rebalances, want 7 at least", rebalances)
		}
	}, everywhere()...)
}

// G5: tasks that the member has taken over from a claim before are cancelled with the one that they belong to now.
func TestAnAdoptedTaskIsCancelledWhenItsPartitionMoves(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.MetadataRefresh = 200 * time.Millisecond
		g.Produce(4)
		gate, each := kit.NewGate(), g.AtOnce(4)
		a := g.Start("a", gate.Hold, anyTopic(g))
		g.UntilSeen(2*each, kit.Started)
		must(t, g.Broker.CreateTopic(g.Topic+"-more", 1)) // the session begins anew, under both protocols
		g.UntilSeen(2, kit.Logged, kit.By("a"), kit.Saying("are taken over"))
		g.WantAtMost(0, kit.Cancelled)

		begin := time.Now()
		b := g.Start("b", gate.Hold)
		g.Until("b works on one", func() bool { return len(b.Owns()) == 1 && b.Status().Running == each })
		moved := b.Owns()[0]
		told, _ := g.First(kit.Assigned, kit.By("a"), kit.After(begin))
		for _, e := range g.UntilSeen(each, kit.Cancelled, kit.By("a"), kit.OnPartition(moved), kit.Is(handler.ErrRevoked)) {
			g.WantWithin("from the assignment without it to the cancellation", told.At, e.At, g.Plan().Grace)
		}
		gate.Open()
		g.UntilAllHandled()
		b.Stop()
		a.Stop()
		g.WantAtMost(0, kit.Cancelled, kit.OnPartition(1-moved))
		g.WantAtMost(4, kit.Started, kit.OnPartition(1-moved))
		g.WantAtMost(4+each, kit.Started, kit.OnPartition(moved))
		g.WantSound(nil)
	}, everywhere()...)
}

// anyTopic makes a member's session begin anew when there is one more topic.
func anyTopic(g *kit.Group) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Topics, c.TopicPattern = nil, regexp.MustCompile("^"+regexp.QuoteMeta(g.Topic)+"(-more)?$")
	}
}

// A topic that is made anew under a running task: the task is of another message than the one at its offset now.
func TestATopicMadeAnewIsNotMistaken(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Input.MetadataRefresh = 2 * time.Second
		g.Produce(1)
		gate := kit.NewGate()
		a := g.Start("a", func(ctx context.Context, task *handler.Task) error {
			if string(task.Value) == "new" {
				return nil
			}
			return gate.Hold(ctx, task)
		})
		g.UntilSeen(1, kit.Started)
		for _, err := range []error{g.Broker.DeleteTopic(g.Topic), g.Broker.CreateTopic(g.Topic, 1), g.Broker.Produce(g.Topic, 0, "new", "new")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		g.UntilSeen(3, kit.Started)
		g.Until("the new messages are committed", func() bool { return g.Committed(0) == 2 })
		g.WantAtMost(0, kit.Returned, kit.Well(), kit.Before(g.Find(kit.Started)[1].At))
		gate.Open()
		a.Stop()
	}, everywhere()...)
}

// G4: the one broker is killed under running tasks and comes back within the lease. The tasks go on, whatever becomes of the session.
func TestTasksOutliveTheirBroker(t *testing.T) {
	const n = 5
	t.Parallel()
	node := kafkatest.Kafka(t, kafkatest.Options{})
	type crew struct {
		*kit.Group
		member *kit.Member
		gate   *kit.Gate
	}
	var crews []crew
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		for _, eager := range []bool{true, false} {
			g := kit.Setting{Broker: node, Eager: eager, Order: order}.Group(t, 3)
			g.Input = config.Input{Expected: g.Input.Expected, Eager: eager, CrashDetection: time.Minute}
			g.Produce(n)
			c := crew{g, nil, kit.NewGate()}
			c.member = g.Start("a", c.gate.Hold)
			g.UntilSeen(3*g.AtOnce(n), kit.Started)
			crews = append(crews, c)
		}
	}
	must(t, node.Kill())
	time.Sleep(5 * time.Second)
	must(t, node.Start(t.Context()))
	for _, c := range crews {
		c.Until("it works on all again", func() bool {
			s := c.member.Status()
			return s.State == consumer.StateMember && s.Running == 3*c.AtOnce(n) && len(c.member.Owns()) == 3
		})
		c.gate.Open()
		c.UntilAllHandled()
		c.member.Stop()
		c.WantAtMost(3*n, kit.Started)
		c.WantAtMost(0, kit.Cancelled)
		c.WantSound(nil)
	}
}
