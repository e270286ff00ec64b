package kafkatest

import (
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
)

// FakeBroker is an in-process broker: up in a millisecond, no Java. The package comment says what it cannot do.
type FakeBroker struct {
	*Remote
	// Cluster is for faults, control functions and a look inside: [kfake.Cluster.Fault], [kfake.Cluster.ControlKey],
	// [kfake.Cluster.GroupInfo], [kfake.Cluster.MoveTopicPartition].
	Cluster *kfake.Cluster
}

// Fake starts an in-process broker with one node for the time of the test. opts are kfake's, applied over ours:
// one node and a least session timeout of 100 ms.
func Fake(tb testing.TB, opts ...kfake.Opt) *FakeBroker {
	tb.Helper()
	b, err := StartFake(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { b.Close() })
	return b
}

// StartFake is [Fake] for programs. The caller closes it.
func StartFake(opts ...kfake.Opt) (*FakeBroker, error) {
	own := []kfake.Opt{kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100 * time.Millisecond)}
	cluster, err := kfake.NewCluster(append(own, opts...)...)
	if err != nil {
		return nil, err
	}
	return &FakeBroker{Remote: Connect(cluster.ListenAddrs(), fakeConfig), Cluster: cluster}, nil
}

func fakeConfig() *sarama.Config {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.MaxVersion
	return cfg
}

// Close stops the broker and cuts every connection to it.
func (b *FakeBroker) Close() error {
	b.Cluster.Close()
	return nil
}
