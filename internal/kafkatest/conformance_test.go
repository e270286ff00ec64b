package kafkatest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// conform is what every broker has to pass: the helpers, and sarama groups under both protocols.
func conform(t *testing.T, b kafkatest.Broker) {
	t.Run("topics", func(t *testing.T) { conformTopics(t, b) })
	t.Run("commits", func(t *testing.T) { conformCommits(t, b) })
	for name, strategy := range strategies() {
		t.Run(name, func(t *testing.T) { conformGroup(t, b, strategy, "") })
		t.Run(name+"-static", func(t *testing.T) { conformGroup(t, b, strategy, "instance") })
	}
}

func strategies() map[string]func() sarama.BalanceStrategy {
	return map[string]func() sarama.BalanceStrategy{
		"eager":       sarama.NewBalanceStrategySticky,
		"cooperative": sarama.NewBalanceStrategyCooperativeSticky,
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func conformTopics(t *testing.T, b kafkatest.Broker) {
	topic := kafkatest.Name(t)
	must(t, b.CreateTopic(topic, 1))
	must(t, b.AddPartitions(topic, 3))
	must(t, b.Produce(topic, 2, "a", "b", "c"))
	msg := &sarama.ProducerMessage{Topic: topic, Partition: 2, Key: sarama.StringEncoder("k"), Value: sarama.StringEncoder("d")}
	must(t, b.Send(msg))
	if msg.Offset != 3 {
		t.Errorf("fourth message has offset %d", msg.Offset)
	}
	must(t, b.DeleteRecords(topic, 2, 2))
	start, err := b.StartOffset(topic, 2)
	must(t, err)
	end, err := b.EndOffset(topic, 2)
	must(t, err)
	if start != 2 || end != 4 {
		t.Errorf("trimmed partition is [%d, %d), want [2, 4)", start, end)
	}
	must(t, b.DeleteTopic(topic))
	if _, err := b.EndOffset(topic, 2); !errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
		t.Errorf("offset of a deleted topic: %v", err)
	}
}

func conformCommits(t *testing.T, b kafkatest.Broker) {
	topic, group := kafkatest.Name(t), kafkatest.Name(t)
	must(t, b.CreateTopic(topic, 2))
	wantCommitted(t, b, group, topic, 1, -1, "")
	must(t, b.Commit(group, topic, 1, 42, "notes"))
	wantCommitted(t, b, group, topic, 1, 42, "notes")
	wantCommitted(t, b, group, topic, 0, -1, "")
	must(t, b.DeleteGroup(group))
	wantCommitted(t, b, group, topic, 1, -1, "")
	description, err := b.Group(group)
	must(t, err)
	if description.State != "Dead" {
		t.Errorf("state of a deleted group: %q", description.State)
	}
}

func wantCommitted(t *testing.T, b kafkatest.Broker, group, topic string, partition int32, offset int64, metadata string) {
	t.Helper()
	gotOffset, gotMetadata, err := b.Committed(group, topic, partition)
	must(t, err)
	if gotOffset != offset || gotMetadata != metadata {
		t.Errorf("committed %s/%d: %d %q, want %d %q", topic, partition, gotOffset, gotMetadata, offset, metadata)
	}
}

// conformGroup lets a second member join and leave while the first one consumes.
func conformGroup(t *testing.T, b kafkatest.Broker, strategy func() sarama.BalanceStrategy, instance string) {
	const partitions, each = 4, 5
	topic, group := kafkatest.Name(t), kafkatest.Name(t)
	must(t, b.CreateTopic(topic, partitions))
	seen := &record{offsets: map[int32][]int64{}, change: make(chan struct{}, 1)}
	first := join(t, b, group, topic, strategy, instance, 1, seen)
	fill := func() {
		for p := range int32(partitions) {
			must(t, b.Produce(topic, p, slices.Repeat([]string{"x"}, each)...))
		}
	}
	fill()
	seen.await(t, partitions*each)
	second := join(t, b, group, topic, strategy, instance, 2, seen)
	awaitShares(t, b, group, topic, 2, 2)
	fill()
	seen.await(t, 2*partitions*each)
	second()
	if instance == "" { // a static member's leave is not one: the broker keeps its place
		awaitShares(t, b, group, topic, 4)
		fill()
		seen.await(t, 3*partitions*each)
	}
	first()
	for p, offsets := range seen.offsets {
		wantCommitted(t, b, group, topic, p, offsets[len(offsets)-1]+1, "done")
	}
}

// awaitShares waits until the group is stable with members that hold that many partitions each.
func awaitShares(t *testing.T, b kafkatest.Broker, group, topic string, want ...int) {
	t.Helper()
	for {
		description, err := b.Group(group)
		must(t, err)
		if description.State == "Stable" && slices.Equal(shares(t, description, topic), want) {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func shares(t *testing.T, description *sarama.GroupDescription, topic string) (out []int) {
	for _, m := range description.Members {
		assignment, err := m.GetMemberAssignment()
		must(t, err)
		if assignment != nil {
			out = append(out, len(assignment.Topics[topic]))
		}
	}
	return out
}

// join runs a member until the returned function is called, which waits for its end.
func join(t *testing.T, b kafkatest.Broker, group, topic string, strategy func() sarama.BalanceStrategy, instance string, n int, h sarama.ConsumerGroupHandler) func() {
	cfg := b.Config()
	cfg.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy()}
	cfg.Consumer.Group.Session.Timeout, cfg.Consumer.Group.Heartbeat.Interval = 3*time.Second, 100*time.Millisecond
	cfg.Consumer.MaxWaitTime, cfg.Consumer.Offsets.Initial = 50*time.Millisecond, sarama.OffsetOldest
	if instance != "" {
		cfg.Consumer.Group.InstanceId = fmt.Sprint(instance, n)
	}
	g, err := sarama.NewConsumerGroup(b.Addrs(), group, cfg)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	// Ends when ctx does.
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := g.Consume(ctx, []string{topic}, h); err != nil && ctx.Err() == nil {
				t.Log("consume:", err) // what a broken connection costs; the test waits for what has to come after it
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
		must(t, g.Close())
	}
}

// record is a handler that keeps the offsets it was given and marks them.
type record struct {
	mu      sync.Mutex
	offsets map[int32][]int64
	change  chan struct{}
}

func (*record) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (*record) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (r *record) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for m := range c.Messages() {
		r.mu.Lock()
		r.offsets[m.Partition] = append(r.offsets[m.Partition], m.Offset)
		r.mu.Unlock()
		s.MarkMessage(m, "done")
		select {
		case r.change <- struct{}{}:
		default:
		}
	}
	return nil
}

func (r *record) await(t *testing.T, total int) {
	t.Helper()
	for r.count() < total {
		select {
		case <-r.change:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// count is how many different messages were seen.
func (r *record) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p, offsets := range r.offsets {
		slices.Sort(offsets)
		r.offsets[p] = slices.Compact(offsets)
		n += len(r.offsets[p])
	}
	return n
}
