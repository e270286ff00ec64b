package link_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// B33: a topic that is another one under its old name is told, once, also when nobody saw it missing. An answer that still has the one
// before comes from a broker that lags behind, and one without an identity from an old one.
func TestReplacedTopicIsTold(t *testing.T) {
	news := &told{}
	seen := link.Seen(link.Options{OnReplaced: func(topic string) { news.tell(topic, false) }})
	for _, id := range []byte{1, 1, 0, 2, 1, 2, 0, 2, 3} {
		seen("orders", sarama.Uuid{id})
	}
	seen("audit", sarama.Uuid{9})
	if want := []string{"orders false", "orders false"}; !slices.Equal(news.list(), want) {
		t.Errorf("told %v, want %v", news.list(), want)
	}
}

// B33: sarama remembers the leader of a topic that is gone, and would fetch from it.
func TestMissingTopicHasNoLeader(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	refresh(t, l)
	if _, _, err := l.LeaderAndEpoch("orders", 0); err != nil {
		t.Fatal(err)
	}
	w.answers["MetadataRequest"] = w.topics()
	w.answer()
	refresh(t, l)
	if _, _, err := l.LeaderAndEpoch("orders", 0); !errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
		t.Errorf("error %v, want UNKNOWN_TOPIC_OR_PARTITION", err)
	}
}
