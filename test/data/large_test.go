package data_test

import (
	"context"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

const large = 5 << 20

// B45, with the settings of a plan for long tasks, whose fetches are small. A limit of the user's is refused: see
// TestFaultsAreNamedBeforeAnythingIsOpened of package consumer.
func TestB45ALargeMessageIsHandledInItsPlace(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		configure(t, g, "max.message.bytes", "6000000")
		g.Produce(5)
		sendLarge(t, g, 0)
		g.Produce(5)
		sizes := make(chan int, 11)
		m := g.Start("a", func(_ context.Context, t *handler.Task) error {
			if t.Partition == 0 {
				sizes <- len(t.Value)
			}
			return nil
		})
		g.UntilAllHandled()
		m.Stop()
		wantRuns(g, 0, 0, 11)
		wantRuns(g, 1, 0, 10)
		wantOrder(g)
		for o := range 11 {
			if n := <-sizes; (n == large) != (o == 5) {
				g.Errorf("message %d has %d bytes", o, n)
			}
		}
		g.WantAtMost(1, kit.Assigned)
		g.WantAtMost(0, kit.Troubled)
	}, everywhere()...)
}

// wantOrder wants the messages of each partition to have started in order.
func wantOrder(g *kit.Group) {
	for p := range g.Partitions {
		for o, e := range g.Find(kit.Started, kit.OnPartition(p)) {
			if e.Offset != int64(o) {
				g.Fatalf("start %d of partition %d is that of message %d", o, p, e.Offset)
			}
		}
	}
}

// sendLarge appends a message of 5 MB.
func sendLarge(t *testing.T, g *kit.Group, partition int32) {
	t.Helper()
	conf := g.Broker.Config()
	conf.Producer.MaxMessageBytes, conf.Producer.Return.Successes, conf.Producer.Partitioner = 2*large, true, sarama.NewManualPartitioner
	producer, err := sarama.NewSyncProducer(g.Broker.Addrs(), conf)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	_, _, err = producer.SendMessage(&sarama.ProducerMessage{
		Topic: g.Topic, Partition: partition, Value: sarama.ByteEncoder(make([]byte, large)),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// configure sets a setting of the topic.
func configure(t *testing.T, g *kit.Group, key, value string) {
	t.Helper()
	admin, err := sarama.NewClusterAdmin(g.Broker.Addrs(), g.Broker.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	err = admin.IncrementalAlterConfig(sarama.TopicResource, g.Topic, map[string]sarama.IncrementalAlterConfigsEntry{
		key: {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
}
