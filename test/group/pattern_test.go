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

// A topic of a pattern that comes or goes makes the member join again, and its tasks go on meanwhile: their partitions come back. One that
// has gone is not missed for ever.
func TestTopicsOfAPatternComeAndGoInMidTask(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.MetadataRefresh = time.Second
		g.Produce(1)
		gate := kit.NewGate()
		a := g.Start("a", gate.Hold, matching(g))
		g.UntilSeen(2, kit.Started)

		other := g.Topic + "-other"
		must(t, g.Broker.CreateTopic(other, 1))
		g.Until("it has the new one", func() bool { return len(a.Status().Assigned[other]) == 1 })
		g.Until("the tasks go on in claims", untilBack(a, 2))
		must(t, g.Broker.DeleteTopic(other))
		g.Until("it has given it up", func() bool { return len(a.Status().Assigned[other]) == 0 })
		g.Until("nobody misses it", func() bool { return len(a.Status().Missing) == 0 })
		g.Until("the tasks go on in claims again", untilBack(a, 2))

		g.WantAtMost(0, kit.Cancelled)
		g.WantAtMost(2, kit.Started)
		g.WantAtMost(0, kit.Logged, kit.Saying("Config.Topics"))
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(2, kit.Started)
	}, everywhere()...)
}

// untilBack is whether the member is in a session with its running tasks in claims.
func untilBack(m *kit.Member, tasks int) func() bool {
	return func() bool {
		s := m.Status()
		return s.State == consumer.StateMember && s.Kept == 0 && s.Running == tasks
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
		g.Until("the task goes on in a claim", untilBack(a, 1))
		g.WantAtMost(0, kit.Cancelled, kit.OnPartition(1))
		g.WantAtMost(1, kit.Started, kit.OnPartition(1))
		gate.Open()
		g.UntilSeen(1, kit.Committed, kit.OnPartition(1), kit.AtOffset(1))
		a.Stop()
	}, everywhere()...)
}
