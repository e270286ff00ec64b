package handler

import (
	"slices"
	"sync"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// assignments is what the member heard last about what it owns. An assignment without a partition is the earliest sign that it is
// revoked: sarama tells the strategy before it closes the claim.
type assignments struct {
	mu         sync.Mutex
	latest     assign.Assignment
	generation int32
	claims     map[Claim]chan struct{}
}

// hear is the [assign.Listener].
func (a *assignments) hear(latest assign.Assignment, generation int32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest, a.generation = latest, generation
	for key, revoked := range a.claims {
		if !slices.Contains(latest[key.Topic], key.Partition) {
			close(revoked)
			delete(a.claims, key)
		}
	}
}

// enter returns the channel that is closed when an assignment without key arrives.
func (a *assignments) enter(key Claim) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	revoked := make(chan struct{})
	a.claims[key] = revoked
	return revoked
}

func (a *assignments) leave(key Claim, revoked <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.claims[key] == revoked {
		delete(a.claims, key)
	}
}

// holds says that the assignment of this very generation contains key. An older one proves nothing: a leader that is not ours may
// send an empty assignment, of which sarama tells nobody (consumer_group.go:505).
func (a *assignments) holds(key Claim, generation int32) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest != nil && a.generation == generation && slices.Contains(a.latest[key.Topic], key.Partition)
}
