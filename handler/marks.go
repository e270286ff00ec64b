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
	offset  int64 // of the last mark
	limit   int   // of a text
}

var _ member.Committer = (*marks)(nil)

// Committed implements member.Committer: sarama tells where a claim starts, and -1 or -2 where there was no commit. Its text it does
// not tell.
func (m *marks) Committed(context.Context) (member.Position, error) {
	return member.Position{Offset: max(m.source.InitialOffset(), -1)}, nil
}

// Commit implements member.Committer.
func (m *marks) Commit(p member.Position) {
	topic, partition := m.source.Topic(), m.source.Partition()
	m.session.MarkOffset(topic, partition, p.Offset, p.Metadata)
	if !m.moved && m.source.InitialOffset() < 0 || p.Offset == m.offset {
		// A mark only rises: the stored offset may lie above the log's end, and a text may change while the offset stays.
		m.session.ResetOffset(topic, partition, p.Offset, p.Metadata)
	}
	m.moved, m.offset = true, p.Offset
	if m.commits != nil {
		m.commits.ask()
	}
}

// Store implements member.Committer. There is no answer to wait for.
func (m *marks) Store(_ context.Context, p member.Position) error {
	m.Commit(p)
	return nil
}

// Settled implements member.Committer: nobody tells what becomes of a mark.
func (m *marks) Settled(context.Context) error { return nil }

// Trust implements member.Committer: sarama's session commits with what it knows.
func (m *marks) Trust(int32) {}

// MaxMetadata implements member.Committer.
func (m *marks) MaxMetadata() int { return m.limit }

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
	return &marks{session: s, source: c, commits: g.commitsOf(s, g.opts.Plan), offset: c.InitialOffset(), limit: g.opts.Plan.Input.Broker.MaxMetadataBytes}
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
