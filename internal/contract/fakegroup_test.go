package contract_test

import (
	"testing"
	"testing/synctest"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/contract"
	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// inMemory is fakegroup as the suite's cluster.
type inMemory struct{ *fakegroup.Cluster }

func (c inMemory) CreateTopic(topic string, partitions int32) error {
	c.Cluster.CreateTopic(topic, int(partitions))
	return nil
}

func (c inMemory) Produce(topic string, partition int32, values ...string) error {
	for _, v := range values {
		c.Cluster.Produce(topic, partition, nil, []byte(v))
	}
	return nil
}

func (c inMemory) Committed(group, topic string, partition int32) (int64, string, error) {
	o, meta := c.Cluster.Committed(group, topic, partition)
	return o, meta, nil
}

func (c inMemory) Name(*testing.T) string { return "reports" }

func (c inMemory) Consumer(cfg consumer.Config, h handler.Handler) (*consumer.Consumer, func(), error) {
	conf, err := cfg.Plan.Apply(nil)
	if err != nil {
		return nil, nil, err
	}
	var group *fakegroup.Group
	cfg.ConsumerGroup = func(s []sarama.BalanceStrategy) (sarama.ConsumerGroup, error) {
		conf.Consumer.Group.Rebalance.GroupStrategies = s
		group, err = fakegroup.NewGroup(c.Cluster, cfg.Group, conf)
		return group, err
	}
	made, err := consumer.New(cfg, h)
	release := func() {
		if group != nil { // none is made for a member that is stopped at once
			_ = group.Close()
		}
	}
	return made, release, err
}

func TestContractInMemory(t *testing.T) {
	contract.Suite{
		New:    func(*testing.T) contract.Cluster { return inMemory{fakegroup.NewCluster()} },
		Around: synctest.Test,
	}.Run(t)
}
