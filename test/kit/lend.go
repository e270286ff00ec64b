package kit

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// Lent is a sarama group of the test's own over which a member runs.
type Lent struct {
	Group sarama.ConsumerGroup // nil as long as the member has not asked for it
}

// Lend makes a member run over a group of the test, which leaves by [Lent.Leave], at the end of the test at the latest.
func (g *Group) Lend() (l *Lent, change func(*consumer.Config)) {
	g.t.Helper()
	conf, err := g.Plan().Apply(g.Broker.Config())
	g.must(err)
	l = &Lent{}
	g.t.Cleanup(l.Leave)
	return l, func(c *consumer.Config) {
		c.Brokers, c.Sarama = nil, nil
		c.ConsumerGroup = func(s []sarama.BalanceStrategy) (_ sarama.ConsumerGroup, err error) {
			conf.Consumer.Group.Rebalance.GroupStrategies = s
			l.Group, err = sarama.NewConsumerGroup(g.Broker.Addrs(), g.Name, conf)
			return l.Group, err
		}
	}
}

// Leave closes the group.
func (l *Lent) Leave() {
	if l.Group != nil {
		_ = l.Group.Close()
	}
}
