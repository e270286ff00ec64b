// Package contract_test runs the contract suite on brokers: the in-process one, and real Kafka in two versions.
package contract_test

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/contract"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) { shared.Run(m) }

// broker is a kafkatest.Broker as the suite's cluster.
type broker struct{ kafkatest.Broker }

func (b broker) Name(t *testing.T) string { return kafkatest.Name(t) }

func (b broker) Consumer(cfg consumer.Config, h handler.Handler) (*consumer.Consumer, func(), error) {
	cfg.Brokers, cfg.Sarama = b.Addrs(), b.Config()
	c, err := consumer.New(cfg, h)
	return c, func() {}, err
}

func on(b func(t *testing.T) kafkatest.Broker) contract.Suite {
	return contract.Suite{New: func(t *testing.T) contract.Cluster { return broker{b(t)} }, Parallel: true}
}

func TestContractInProcess(t *testing.T) {
	b := kafkatest.Fake(t)
	on(func(*testing.T) kafkatest.Broker { return b }).Run(t)
}

func TestContractKafkaNewest(t *testing.T) {
	b := shared.Kafka(t, kafkatest.Newest)
	on(func(*testing.T) kafkatest.Broker { return b }).Run(t)
}

func TestContractKafkaOldest(t *testing.T) {
	b := shared.Kafka(t, kafkatest.Oldest)
	on(func(*testing.T) kafkatest.Broker { return b }).Run(t)
}
