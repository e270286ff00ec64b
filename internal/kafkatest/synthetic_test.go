package kafkatest_test

import (
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func TestSyntheticTopicIsConsistent(t *testing.T) {
	const topic, batch = "synthetic", 10
	b := kafkatest.Synthetic{Topic: topic, Partitions: 2, RecordBytes: 30, BatchRecords: batch}.Fake(t)
	start, err := b.StartOffset(topic, 1)
	must(t, err)
	end, err := b.EndOffset(topic, 1)
	must(t, err)
	if start != 0 || end != 1<<62 {
		t.Errorf("topic is [%d, %d)", start, end)
	}
	consumer, err := sarama.NewConsumer(b.Addrs(), b.Config())
	must(t, err)
	defer consumer.Close()
	for _, from := range []int64{sarama.OffsetOldest, 3*batch + 4} {
		claim, err := consumer.ConsumePartition(topic, 1, from)
		must(t, err)
		for want := max(from, 0); want < max(from, 0)+3*batch; want++ {
			if m := <-claim.Messages(); m.Offset != want || len(m.Value) != 30 {
				t.Errorf("offset %d, %d bytes; want offset %d", m.Offset, len(m.Value), want)
			}
		}
		must(t, claim.Close())
	}
}

// BenchmarkSynthetic is the ceiling of what a bench on this broker can show: sarama's own claim loop, one partition.
func BenchmarkSynthetic(b *testing.B) {
	broker := kafkatest.Synthetic{Topic: "synthetic", Partitions: 1}.Fake(b)
	consumer, err := sarama.NewConsumer(broker.Addrs(), broker.Config())
	if err != nil {
		b.Fatal(err)
	}
	defer consumer.Close()
	claim, err := consumer.ConsumePartition("synthetic", 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer claim.Close()
	for b.Loop() {
		<-claim.Messages()
	}
}
