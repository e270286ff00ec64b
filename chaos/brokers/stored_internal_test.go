package brokers

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func record(group string, partition int32, offset int64, text string, at time.Time) *sarama.ConsumerMessage {
	key, value := kmsg.NewOffsetCommitKey(), kmsg.NewOffsetCommitValue()
	key.Version, key.Group, key.Topic, key.Partition = 1, group, group, partition
	value.Version, value.Offset, value.Metadata, value.CommitTimestamp = 3, offset, text, at.UnixMilli()
	return &sarama.ConsumerMessage{Key: key.AppendTo(nil), Value: value.AppendTo(nil)}
}

func TestARecordOfTheOffsetsTopicIsAnEvent(t *testing.T) {
	c := &Commits{groups: map[string]bool{"g": true}}
	at := time.UnixMilli(1_800_000_000_123)
	e, ok := c.event(record("g", 3, 77, "text", at))
	want := ledger.Event{
		Kind: ledger.Stored, Group: "g", Partition: 3, Offset: 77, Text: "text", Wall: at.UnixNano() + int64(time.Millisecond) - 1,
	}
	if !ok || e != want {
		t.Errorf("%+v, want %+v", e, want)
	}
	forgotten := record("g", 3, 77, "", at)
	forgotten.Value = nil
	membership := record("g", 3, 77, "", at)
	membership.Key[1] = 2 // the version says what a key is of
	for name, m := range map[string]*sarama.ConsumerMessage{
		"another group": record("h", 3, 77, "", at), "a tombstone": forgotten, "a membership": membership,
		"nothing": {}, "a torn key": {Key: []byte{0, 1, 0}, Value: []byte{0}}, "a torn value": {Key: record("g", 1, 1, "", at).Key, Value: []byte{0, 3}},
	} {
		if e, ok := c.event(m); ok {
			t.Errorf("%s is %+v", name, e)
		}
	}
}

// All that a real broker stores is found, in order.
func TestCommitsAreFollowedOnARealBroker(t *testing.T) {
	node := kafkatest.Kafka(t, kafkatest.Options{})
	book := ledger.NewBook(ledger.Header{Groups: []ledger.Group{{Name: "g"}}}, nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(node.CreateTopic("g", 2))
	_, _, err := node.Committed("g", "g", 0)
	must(err)
	c, err := WatchCommits(book, node)
	must(err)
	for o := range int64(5) {
		must(node.Commit("g", "g", int32(o%2), o, "text"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(c.CatchUp(ctx))
	must(c.Close())
	events := book.Events()
	if len(events) != 5 {
		t.Fatalf("%d events, want 5: %v", len(events), events)
	}
	for i, e := range events {
		if e.Offset != int64(i) || e.Partition != int32(i%2) || e.Text != "text" || time.Since(time.Unix(0, e.Wall)) > time.Minute {
			t.Errorf("%+v", e)
		}
	}
}
