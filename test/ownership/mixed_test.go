package ownership_test

import (
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// D6. Where two strategies are offered one that knows nothing of us may win the round. Whoever sends an eager join has given everything up, and
// the tasks have ended before the answer comes. A cooperative member keeps what it does not give away.
func TestNothingOutlivesAnEagerJoinInAMixedGroup(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		const n = 3
		g, gate := ledByOthers(t, s, 2), kit.NewGate()
		g.Produce(n)
		each := g.AtOnce(n)
		a := g.Start("a", gate.Hold, offeringTwo(s))
		g.UntilSeen(2*each, kit.Started)
		b := g.Start("b", gate.Hold, offeringTwo(s))
		g.Until("b works on one", func() bool { return len(b.Owns()) == 1 && b.Status().Running == each })
		moved := b.Owns()[0]
		g.Until("a works on the other one", func() bool { return len(a.Owns()) == 1 && a.Status().Running == each })
		g.UntilSeen(each, kit.Cancelled, kit.By("a"), kit.OnPartition(moved), kit.Is(handler.ErrRevoked))
		retained := 0
		if s.Eager {
			retained = each
			second := g.Find(kit.Assigned, kit.By("a"))[1]
			if g.Count(kit.Cancelled, kit.By("a"), kit.Before(second.At)) == 0 {
				g.Errorf("no task had ended when the join was answered")
			}
		}
		gate.Open()
		g.UntilAllHandled()
		b.Stop()
		a.Stop()
		g.WantAtMost(each, kit.Cancelled, kit.OnPartition(moved))
		g.WantAtMost(retained, kit.Cancelled, kit.OnPartition(1-moved))
		g.WantAtMost(n+each, kit.Started, kit.OnPartition(moved))
		g.WantAtMost(n+retained, kit.Started, kit.OnPartition(1-moved))
		g.WantSound(nil)
	}, everywhere()...)
}

// offeringTwo makes a member offer a strategy beside the plan's own, of the same protocol.
func offeringTwo(s kit.Setting) func(*consumer.Config) {
	offered := []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky(), sarama.NewBalanceStrategyRoundRobin()}
	if !s.Eager {
		offered = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky(), foreign{sarama.NewBalanceStrategyCooperativeSticky()}}
	}
	return func(c *consumer.Config) { c.Sarama.Consumer.Group.Rebalance.GroupStrategies = offered }
}

// foreign is a cooperative strategy under another name.
type foreign struct{ sarama.BalanceStrategy }

// Name implements sarama.BalanceStrategy.
func (foreign) Name() string { return "foreign" }

// SupportedProtocols says that it is cooperative.
func (foreign) SupportedProtocols() []sarama.RebalanceProtocol {
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolCooperative, sarama.RebalanceProtocolEager}
}
