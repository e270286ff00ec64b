package ownership_test

import (
	"context"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// E4. The topic is deleted and created again under a running task, on a cluster that does not tell topics apart, and then the session ends
// in a rebalance. Member id and generation prove that the partition was nobody else's: but the task is of another message.
func TestE4TheLogUnderATaskIsReplaced(t *testing.T) {
	eachEager(t, func(t *testing.T, s kit.Setting) { // a cooperative session lives through the rebalance
		g := ledByOthers(t, s, 1)
		g.Produce(1)
		gate := kit.NewGate()
		a := g.Start("a", func(ctx context.Context, task *handler.Task) error {
			if string(task.Value) == "new" {
				return nil
			}
			return gate.Hold(ctx, task)
		}, knowsNoIDs(g))
		g.UntilSeen(1, kit.Started)
		must(t, g.Broker.DeleteTopic(g.Topic))
		must(t, g.Broker.CreateTopic(g.Topic, 1))
		must(t, g.Broker.Produce(g.Topic, 0, "new", "new"))
		more := g.Topic + "-more"
		must(t, g.Broker.CreateTopic(more, 1))
		b := g.Start("b", gate.Hold, func(c *consumer.Config) { c.Topics = []string{more} })
		g.Until("b is a member", func() bool { return len(b.Owns()) == 1 })
		g.UntilSeen(1, kit.Returned, kit.AtOffset(0), kit.Well())
		g.UntilSeen(1, kit.Returned, kit.AtOffset(1), kit.Well())
		g.Until("the new messages are committed", func() bool { return g.Committed(0) == 2 })
		gate.Open()
		b.Stop()
		a.Stop()
		g.WantSound(nil)
	})
}

// knowsNoIDs makes a member speak as to brokers before 2.8, whose answers have no topic ids.
func knowsNoIDs(g *kit.Group) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Brokers, c.Sarama = g.Broker.Addrs(), g.Broker.Config()
		c.Sarama.Version = sarama.V2_4_0_0
	}
}
