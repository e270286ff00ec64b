package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// Entries is how many entries all maps have together that know partitions.
func (g *GroupHandler) Entries() int {
	g.mu.Lock()
	n := len(g.commits)
	g.mu.Unlock()
	g.pool.mu.Lock()
	n += len(g.pool.claims) + len(g.pool.strays) + len(g.pool.kept)
	g.pool.mu.Unlock()
	g.heard.mu.Lock()
	defer g.heard.mu.Unlock()
	return n + len(g.heard.chains)
}

// MaxPending is how many messages an account follows beyond an unfinished one.
const MaxPending = maxPending

// Leftovers are the pool's counters, which are zero at rest.
func (g *GroupHandler) Leftovers() (held int64, stray, parting, running int) {
	p := g.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held, p.stray, p.parting, p.running
}

// Preserving is the strategy of this member that leaves running tasks alone.
func (g *GroupHandler) Preserving(p sarama.RebalanceProtocol) *strategy.Preserving {
	return strategy.NewPreserving(voice{g}, p)
}
