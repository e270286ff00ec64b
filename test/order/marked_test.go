package order_test

import (
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// Over a group of the user's own sarama commits what is marked, the map with it. A next owner of that kind cannot read it, and replays; one
// with connections of its own does.
func TestTheMapIsLeftOverAGroupOfTheUserToo(t *testing.T) {
	const n = 30
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Keys *= n
		g.ProduceTo(0, n)
		held := func(o int64) bool { return o >= 6 && thirds(o) }
		change, leave := lend(t, g)
		leaveHoles(t, g, n, held, change)
		leave()
		b := g.Start("b", instant)
		g.UntilSeen(1, kit.Committed, kit.By("b"), kit.AtOffset(n))
		b.Stop()
		wantStarted(g, "b", where(n, held)...)

		must(t, g.Broker.Commit(g.Name, g.Topic, 0, 20, "somebody else's"))
		change, leave = lend(t, g)
		c := g.Start("c", instant, change)
		g.Until("all is committed again", func() bool { return g.Committed(0) == n })
		c.Stop()
		leave()
		wantStarted(g, "c", where(n, func(o int64) bool { return o >= 20 })...)
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}

// lend makes a member run over a group of the test, which leave closes.
func lend(t *testing.T, g *kit.Group) (change func(*consumer.Config), leave func()) {
	t.Helper()
	conf, err := g.Plan().Apply(g.Broker.Config())
	must(t, err)
	var group sarama.ConsumerGroup
	leave = func() {
		if group != nil {
			_ = group.Close()
		}
	}
	t.Cleanup(leave)
	return func(c *consumer.Config) {
		c.Brokers, c.Sarama = nil, nil
		c.ConsumerGroup = func(s []sarama.BalanceStrategy) (_ sarama.ConsumerGroup, err error) {
			conf.Consumer.Group.Rebalance.GroupStrategies = s
			group, err = sarama.NewConsumerGroup(g.Broker.Addrs(), g.Name, conf)
			return group, err
		}
	}, leave
}
