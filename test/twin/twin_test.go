// Package twin_test plays fakegroup's recorded scenarios with sarama on brokers: what the group in memory repeats is what they do.
// With RECORD=folder it writes new recordings there.
package twin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup/twin"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) { shared.Run(m) }

type world struct {
	kafkatest.Broker
	t *testing.T
}

func (w world) try(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w world) CreateTopic(topic string, n int32)   { w.try(w.Broker.CreateTopic(topic, n)) }
func (w world) AddPartitions(topic string, n int32) { w.try(w.Broker.AddPartitions(topic, n)) }
func (w world) Trim(topic string, p int32, offset int64) {
	w.try(w.Broker.DeleteRecords(topic, p, offset))
}

func (w world) Produce(topic string, p int32, n int) {
	w.try(w.Broker.Produce(topic, p, slices.Repeat([]string{"v"}, n)...))
}

func (w world) Commit(group, topic string, p int32, offset int64) {
	w.try(w.Broker.Commit(group, topic, p, offset, ""))
}

func (w world) Committed(group, topic string, p int32) (int64, string) {
	offset, metadata, err := w.Broker.Committed(group, topic, p)
	w.try(err)
	return offset, metadata
}

func (w world) Members(group string) int {
	d, err := w.Broker.Group(group)
	w.try(err)
	return len(d.Members)
}

func (w world) Group(group string, cfg *sarama.Config) (sarama.ConsumerGroup, error) {
	return sarama.NewConsumerGroup(w.Addrs(), group, cfg)
}

func play(t *testing.T, b kafkatest.Broker) {
	for _, sc := range twin.Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			got := sc.Run(world{b, t}, kafkatest.Name(t))
			if dir := os.Getenv("RECORD"); dir != "" {
				record(t, dir, sc.Name, got)
				return
			}
			if want := sc.Recorded(); !slices.Equal(got, want) {
				t.Errorf("now\n  %s\nrecorded\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
		})
	}
}

func record(t *testing.T, dir, name string, lines []string) {
	t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKafka(t *testing.T)  { play(t, shared.Kafka(t, kafkatest.Newest)) }
func TestOldest(t *testing.T) { play(t, shared.Kafka(t, kafkatest.Oldest)) }
func TestFake(t *testing.T)   { play(t, kafkatest.Fake(t)) }
