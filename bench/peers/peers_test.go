package peers_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/peers"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const (
	partitions = 2
	perOne     = 3
	patience   = 30 * time.Second
)

// Each peer handles all messages, those of a partition in their order, commits them by the time it has stopped, and stops.
func TestEachPeerDoesItsWork(t *testing.T) {
	broker := kafkatest.Fake(t)
	for _, p := range peers.All() {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			name := filled(t, broker)
			work(t, p, peers.Settings{Brokers: broker.Addrs(), Group: name, Topic: name, Order: peers.ByPartition, Task: time.Second, Session: 10 * time.Second})
			for i := range int32(partitions) {
				if offset, _, err := broker.Committed(name, name, i); err != nil || offset != perOne {
					t.Errorf("partition %d: %d is committed, %v, want %d", i, offset, err, perOne)
				}
			}
		})
	}
}

// filled makes a topic with perOne messages on each of its partitions.
func filled(t *testing.T, broker kafkatest.Broker) (name string) {
	t.Helper()
	name = kafkatest.Name(t)
	if err := broker.CreateTopic(name, partitions); err != nil {
		t.Fatal(err)
	}
	for i := range int32(partitions) {
		if err := broker.Produce(name, i, make([]string, perOne)...); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// work runs a member until it has handled all messages.
func work(t *testing.T, p peers.Peer, s peers.Settings) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var mu sync.Mutex
	next := map[int32]int64{}
	left := partitions * perOne
	err := p.Run(ctx, s, func(_ context.Context, m peers.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if m.Offset != next[m.Partition] {
			t.Errorf("partition %d: offset %d, want %d", m.Partition, m.Offset, next[m.Partition])
		}
		next[m.Partition]++
		if left--; left == 0 {
			time.AfterFunc(100*time.Millisecond, cancel) // a moment for what the library does after the handler
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if left != 0 {
		t.Errorf("%d messages are left", left)
	}
}

// Where a user can say how long a member that leaves waits for its tasks, it is said: a task that hangs holds nobody up for longer.
func TestALeaverWaitsAsLongAsIsSaid(t *testing.T) {
	broker := kafkatest.Fake(t)
	for _, p := range []peers.Peer{peers.Evenkeel{}, peers.Watermill{}} {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			name := filled(t, broker)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var began atomic.Bool
			gone := make(chan struct{})
			s := peers.Settings{Brokers: broker.Addrs(), Group: name, Topic: name, Order: peers.ByPartition, Task: time.Second, Grace: 300 * time.Millisecond}
			_ = p.Run(ctx, s, func(context.Context, peers.Message) error {
				began.Store(true)
				cancel()
				select {
				case <-gone:
				case <-time.After(25 * time.Second): // less than the 30 s that Watermill waits by default
					t.Error("the member waits for longer than it was told to")
				}
				return nil
			})
			close(gone)
			if !began.Load() {
				t.Error("no task has begun")
			}
		})
	}
}

func TestPeersAreFoundByName(t *testing.T) {
	for _, p := range peers.All() {
		if found, ok := peers.Named(p.Name()); !ok || found != p {
			t.Errorf("%s: %v, %v", p.Name(), found, ok)
		}
		if p.Says() == "" || len(p.Orders()) == 0 {
			t.Errorf("%s says %q and offers %v", p.Name(), p.Says(), p.Orders())
		}
	}
	if _, ok := peers.Named("nobody"); ok {
		t.Error("nobody was found")
	}
}
