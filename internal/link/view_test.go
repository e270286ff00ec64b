package link_test

import (
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// TestRefreshOfWhatIsKnownIsOneQuestion: sarama's own refresh, which waits for the long poll of every leader, is left out.
func TestRefreshOfWhatIsKnownIsOneQuestion(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, nil)
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		before := w.wire.count(metadata)
		if err := l.RefreshMetadata("orders"); err != nil {
			t.Fatal(err)
		}
		if n := w.wire.count(metadata) - before; n != 1 {
			t.Errorf("refresh %d: %d metadata requests", i, n)
		}
	}
}

// TestRefreshOfTopicsNeverSeenIsOneQuestionMore: not one for each topic.
func TestRefreshOfTopicsNeverSeenIsOneQuestionMore(t *testing.T) {
	w := newWorld(t)
	names := []string{"a", "b", "c", "d", "e"}
	w.answers["MetadataRequest"] = w.topics(names...)
	w.answer()
	l := w.link(t, nil)
	if err := l.RefreshMetadata(names...); err != nil {
		t.Fatal(err)
	}
	if n := w.wire.count(metadata); n != 2 {
		t.Errorf("%d metadata requests", n)
	}
}

// TestRefreshNotices: whatever changed reaches sarama's client.
func TestRefreshNotices(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w, other *world) *sarama.MockMetadataResponse
		look   func(t *testing.T, l *link.Link, w, other *world)
	}{
		"partitions": {
			change: func(w, _ *world) *sarama.MockMetadataResponse { return w.topics("orders").SetLeader("orders", 2, 1) },
			look:   func(t *testing.T, l *link.Link, _, _ *world) { wantPartitions(t, l, "orders", 0, 1, 2) },
		},
		"fewer partitions": { // of a topic that was deleted and made again
			change: func(w, _ *world) *sarama.MockMetadataResponse { return w.topics().SetLeader("orders", 0, 1) },
			look:   func(t *testing.T, l *link.Link, _, _ *world) { wantPartitions(t, l, "orders", 0) },
		},
		"a leader": {
			change: func(w, other *world) *sarama.MockMetadataResponse {
				return w.topics("orders").SetBroker(other.broker.Addr(), 2).SetLeader("orders", 1, 2)
			},
			look: func(t *testing.T, l *link.Link, _, other *world) { wantLeader(t, l, 1, other.broker.Addr()) },
		},
		"an address": {
			change: func(w, other *world) *sarama.MockMetadataResponse {
				return sarama.NewMockMetadataResponse(nil).SetBroker(other.broker.Addr(), 1).
					SetLeader("orders", 0, 1).SetLeader("orders", 1, 1)
			},
			look: func(t *testing.T, l *link.Link, _, other *world) { wantLeader(t, l, 0, other.broker.Addr()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, other := newWorld(t), newWorld(t)
			l := w.link(t, nil)
			for range 2 {
				if err := l.RefreshMetadata("orders"); err != nil {
					t.Fatal(err)
				}
			}
			w.answers["MetadataRequest"] = c.change(w, other)
			w.answer()
			if err := l.RefreshMetadata("orders"); err != nil {
				t.Fatal(err)
			}
			c.look(t, l, w, other)
		})
	}
}

func wantLeader(t *testing.T, l *link.Link, partition int32, addr string) {
	t.Helper()
	leader, _, err := l.LeaderAndEpoch("orders", partition)
	if err != nil {
		t.Fatal(err)
	}
	if leader.Addr() != addr {
		t.Errorf("leader at %s, want %s", leader.Addr(), addr)
	}
}
