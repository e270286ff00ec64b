package handler

import (
	"context"
	"slices"
	"sync"

	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// assignments is what the member heard last about what it owns. An assignment without a partition is the earliest sign that it is
// revoked: sarama tells the strategy before it closes the claim.
type assignments struct {
	mu         sync.Mutex
	latest     strategy.Assignment
	generation int32
	held       map[Claim]*holding
}

// holding is a claim that is running now.
type holding struct{ stop context.CancelFunc }

func newAssignments() *assignments { return &assignments{held: map[Claim]*holding{}} }

// hear is the [strategy.Listener]. When it has returned, nothing starts any more on a partition that the assignment does not contain.
func (a *assignments) hear(latest strategy.Assignment, generation int32) {
	for _, h := range a.replace(latest, generation) {
		h.stop()
	}
}

// replace returns the claims that are no longer ours.
func (a *assignments) replace(latest strategy.Assignment, generation int32) (gone []*holding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest, a.generation = latest, generation
	for key, h := range a.held {
		if !slices.Contains(latest[key.Topic], key.Partition) {
			gone = append(gone, h)
			delete(a.held, key)
		}
	}
	return gone
}

// enter makes an assignment without key call stop.
func (a *assignments) enter(key Claim, stop context.CancelFunc) *holding {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := &holding{stop: stop}
	a.held[key] = h
	return h
}

func (a *assignments) leave(key Claim, h *holding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held[key] == h {
		delete(a.held, key)
	}
}

// holds says that the assignment of this very generation contains key. An older one proves nothing: a leader that is not ours may
// send an empty assignment, of which sarama tells nobody (consumer_group.go:505).
func (a *assignments) holds(key Claim, generation int32) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest != nil && a.generation == generation && slices.Contains(a.latest[key.Topic], key.Partition)
}
