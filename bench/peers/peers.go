// Package peers holds ways to write a consumer of long tasks in Go, one a file, each in the idiom of its library: what stands in a file
// is what its user would write. The benchmarks run them side by side, each in a process of its own.
package peers

import (
	"context"
	"slices"
	"time"
)

// Order is what a peer keeps order for.
type Order string

// The orders. Without one a task may run as soon as there is room for it.
const (
	ByPartition Order = "partition"
	ByKey       Order = "key"
	None        Order = "none"
)

// Short is what tasks are shorter than for which a peer commits now and then, and others have a commit each, where its library leaves
// that to its user. evenkeel draws the line there too.
const Short = 100 * time.Millisecond

// Settings are what the rows ask of a peer. What is not in here is as its library has it by default.
type Settings struct {
	Brokers []string
	Group   string
	Topic   string
	Order   Order
	Slots   int           // how many tasks run at once, where that is the user's choice; 0: the peer's default
	Task    time.Duration // how long a task usually takes
	Longest time.Duration // the longest task that is still normal, where its user can say so; 0: not said
	Grace   time.Duration // how long a member that leaves may wait for its tasks, where that is the user's choice; 0: the peer's default
	Session time.Duration // session timeout, with heartbeats of a third of it; 0: the peer's default
}

// Message is where a message lies.
type Message struct {
	Partition int32
	Offset    int64
}

// Work is the task of a message. Its context ends when the peer tells its user that the task is no longer wanted, and then the task ends
// with an error.
type Work func(ctx context.Context, m Message) error

// Peer is one way to write a consumer.
type Peer interface {
	// Name is a word.
	Name() string
	// Says is what a reader has to know of it, in a sentence.
	Says() string
	// Orders are those that it offers.
	Orders() []Order
	// Run works as a member of the group until ctx ends, then stops in order.
	Run(ctx context.Context, s Settings, work Work) error
}

// All lists evenkeel and the peers that are written in Go.
func All() []Peer {
	return []Peer{
		Evenkeel{},
		Blocking{},
		Racing{},
		Racing{Cooperative: true},
		Watermill{},
		Franz{},
		KafkaGo{},
	}
}

// Named returns the peer of that name, one that is for pictures too.
func Named(name string) (p Peer, ok bool) {
	all := append(All(), Evenkeel{Sticky: true})
	i := slices.IndexFunc(all, func(p Peer) bool { return p.Name() == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}
