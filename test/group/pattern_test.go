package group_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// matching makes a member consume all topics whose name begins with that of the group.
func matching(g *kit.Group) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Topics, c.TopicPattern = nil, regexp.MustCompile("^"+regexp.QuoteMeta(g.Topic))
	}
}

// A topic of a pattern that comes or goes makes the members join again, and their tasks go on meanwhile. One that has gone is not
// missed for ever.
func TestTopicsOfAPatternComeAndGoInMidTask(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.MetadataRefresh = time.Second
		g.Produce(1)
		gate := kit.NewGate()
		a, b := g.Start("a", gate.Hold, matching(g)), g.Start("b", gate.Hold, matching(g))
		g.Until("each works on one", func() bool { return a.Status().Running == 1 && b.Status().Running == 1 })
		begin := g.Note("what follows counts")

		other := g.Topic + "-other"
		owners := func() int { return len(a.Status().Assigned[other]) + len(b.Status().Assigned[other]) }
		must(t, g.Broker.CreateTopic(other, 1))
		g.Until("somebody has it", func() bool { return owners() == 1 })
		g.Until("the tasks go on in claims", untilBack(a, b))
		must(t, g.Broker.DeleteTopic(other))
		g.Until("nobody has it", func() bool { return owners() == 0 })
		g.Until("the tasks go on in claims again", untilBack(a, b))
		g.Until("nobody misses it", func() bool { return len(a.Status().Missing)+len(b.Status().Missing) == 0 })

		g.WantAtMost(0, kit.Cancelled, kit.After(begin))
		g.WantAtMost(0, kit.Started, kit.After(begin))
		g.WantAtMost(0, kit.Logged, kit.Saying("Config.Topics"))
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		b.Stop()
	}, everywhere()...)
}

// untilBack is whether each member has one claim with a running task, and none between two sessions.
func untilBack(members ...*kit.Member) func() bool {
	return func() bool {
		for _, m := range members {
			if s := m.Status(); s.State != consumer.StateMember || s.Kept > 0 || s.Running != 1 {
				return false
			}
		}
		return true
	}
}

// B33. A topic that was deleted and created again ends the session, and with it no task of another topic.
func TestATopicThatIsCreatedAgainInterruptsNoOther(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.MetadataRefresh = time.Second
		other, gate, done := g.Topic+"-other", kit.NewGate(), make(chan struct{}, 10)
		must(t, g.Broker.CreateTopic(other, 1))
		must(t, g.Broker.Produce(other, 0, "x"))
		g.ProduceTo(1, 1) // the other topic has no partition 1, and the history knows partitions alone
		a := g.Start("a", func(ctx context.Context, t *handler.Task) error {
			if t.Topic != other {
				return gate.Hold(ctx, t)
			}
			done <- struct{}{}
			return nil
		}, func(c *consumer.Config) { c.Topics = append(c.Topics, other) })
		<-done
		g.UntilSeen(1, kit.Started, kit.OnPartition(1))

		must(t, g.Broker.DeleteTopic(other))
		must(t, g.Broker.CreateTopic(other, 1))
		must(t, g.Broker.Produce(other, 0, "x"))
		<-done
		g.Until("the task goes on in a claim", untilBack(a))
		g.WantAtMost(0, kit.Cancelled, kit.OnPartition(1))
		g.WantAtMost(1, kit.Started, kit.OnPartition(1))
		gate.Open()
		g.UntilSeen(1, kit.Committed, kit.OnPartition(1), kit.AtOffset(1))
		a.Stop()
	}, everywhere()...)
}
