package handler

import (
	"context"
	"sync"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// marks commits over a plain sarama session: it marks, and for long tasks it asks the session to commit at once. sarama flushes
// what is marked when a claim is revoked and when the session ends, as long as autocommit is on.
type marks struct {
	session sarama.ConsumerGroupSession
	source  sarama.ConsumerGroupClaim
	commits *commits // nil when the timed commit of sarama is good enough
	moved   bool
}

var _ member.Committer = (*marks)(nil)

// Committed implements member.Committer: sarama tells where a claim starts, and -1 or -2 where there was no commit.
func (m *marks) Committed(context.Context) int64 { return max(m.source.InitialOffset(), -1) }

// Commit implements member.Committer.
func (m *marks) Commit(offset int64) {
	topic, partition := m.source.Topic(), m.source.Partition()
	m.session.MarkOffset(topic, partition, offset, "")
	if !m.moved && m.source.InitialOffset() < 0 {
		m.session.ResetOffset(topic, partition, offset, "") // the stored offset may lie above the log's end: a mark only rises
	}
	m.moved = true
	if m.commits != nil {
		m.commits.ask()
	}
}

// Release implements member.Committer: sarama flushes by itself.
func (m *marks) Release(context.Context) {}

// commits calls session.Commit apart from the claim loops: it takes as long as the coordinator connection is busy with a fetch,
// or with a whole rebalance. Asks that come meanwhile become one more call.
type commits struct {
	session sarama.ConsumerGroupSession
	wg      sync.WaitGroup

	mu      sync.Mutex
	running bool
	asked   bool
}

func (c *commits) ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = true
	if !c.running {
		c.running = true
		c.wg.Go(c.loop) // ends when nothing is asked any more; Cleanup waits for it
	}
}

func (c *commits) loop() {
	for c.more() {
		c.session.Commit()
	}
}

func (c *commits) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.asked = c.asked, false
	return c.running
}

// committerOf returns the committer of a claim: the session's own if it has one, else marks.
func (g *GroupHandler) committerOf(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) member.Committer {
	if own, ok := s.(member.Session); ok {
		return own.Committer(c.Topic(), c.Partition())
	}
	return &marks{session: s, source: c, commits: g.commitsOf(s, g.opts.Plan)}
}

// commitsOf returns the one that calls Commit for a session, nil for a plan of short tasks.
func (g *GroupHandler) commitsOf(s sarama.ConsumerGroupSession, p *config.Plan) *commits {
	if p.CommitInterval > 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.commits[s.Context()]
	if c == nil {
		c = &commits{session: s}
		g.commits[s.Context()] = c
	}
	return c
}
