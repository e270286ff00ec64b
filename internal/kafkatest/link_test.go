package kafkatest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

func TestLinksOfFake(t *testing.T) { conformLinks(t, kafkatest.FakeLinked(t)) }

func TestLinksOfKafka(t *testing.T) {
	conformLinks(t, shared.Kafka(t, kafkatest.Newest))
}

func TestLinksOfCluster(t *testing.T) {
	conformLinks(t, shared.Cluster(t))
}

// conformLinks cuts one member off: its partitions go to the other, and come back when the link is restored.
func conformLinks(t *testing.T, broker kafkatest.Linked) {
	a, b := broker.Link("a"), broker.Link("b")
	topic, group := kafkatest.Name(t), kafkatest.Name(t)
	must(t, broker.CreateTopic(topic, 4))
	seen := &record{offsets: map[int32][]int64{}, change: make(chan struct{}, 1)}
	defer join(t, a, group, topic, sarama.NewBalanceStrategyRange, "", 1, seen)()
	defer join(t, b, group, topic, sarama.NewBalanceStrategyRange, "", 2, seen)()
	awaitShares(t, broker, group, topic, 2, 2)
	a.Cut()
	awaitShares(t, broker, group, topic, 4)
	must(t, broker.Produce(topic, 0, "x"))
	seen.await(t, 1)
	must(t, a.Restore())
	awaitShares(t, broker, group, topic, 2, 2)
	a.Refuse()
	must(t, a.Restore())
	b.Reset()
	b.Delay(50 * time.Millisecond)
	must(t, broker.Produce(topic, 3, "x"))
	seen.await(t, 2)
	if !slices.ContainsFunc(a.Conns(), joined) {
		t.Error("the link does not know of the member's join")
	}
	must(t, b.Restore())
}

func joined(c netproxy.Conn) bool {
	const joinGroup = 11
	return slices.Contains(c.Keys, joinGroup)
}
