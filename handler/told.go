package handler

import (
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// The leader plans with what the members have reported. Where that has changed since, in a way that its plan depends on, another round is
// needed, and nobody asks for it but the member that knows.

// stuckAfter is how long a task that was given up counts as one that may still return. So long the leader waits for it; a task that counted as
// stuck at once would be left alone, and another one stopped in its place.
const stuckAfter = 30 * time.Second

// told is what the leader was told of the task on a partition.
type told struct {
	over  bool          // it is past the hold limit,
	limit time.Duration // which is this
	stuck bool          // it was cancelled and does not return
}

// HandOver is a partition for which the group needs another round.
type HandOver struct {
	Claim
	Idle bool // it is to go to another member, and nothing runs there: it moves as soon as its commit is answered
}

// HandOvers lists the partitions of which the leader of the group has to hear: those that are to go to another member and are idle, or wait
// for a task that is past the plan's HoldLimit or does not return, and those where a task has returned that did not seem to. Package
// consumer asks for another round then. The order is any.
func (g *GroupHandler) HandOvers() []HandOver {
	p := g.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.handOversLocked(g.opts.Plan.HoldLimit)
}

func (p *pool) handOversLocked(limit time.Duration) (list []HandOver) {
	for key := range p.handOvers.marks {
		if c := p.claims[key]; c != nil && p.handOvers.keepsLocked(key) && c.tellsLeaderLocked(limit) {
			list = append(list, HandOver{key, c.idleLocked()})
		}
	}
	for key, t := range p.handOvers.told {
		named := slices.ContainsFunc(list, func(h HandOver) bool { return h.Claim == key })
		if t.stuck && p.strays[key] == nil && !named {
			list = append(list, HandOver{Claim: key})
		}
	}
	return list
}

// idleLocked says that no task runs on the partition, also none of an earlier claim.
func (c *claim) idleLocked() bool { return c.entered && c.flight == 0 && c.before == nil }

func (c *claim) tellsLeaderLocked(limit time.Duration) bool {
	at := c.tellAtLocked(limit)
	return c.idleLocked() || at > 0 && at <= c.pool.now()
}

// tellAtLocked is when the leader has to hear of the task that holds a marked partition: it is past the hold limit by then, or does not
// return. 0 is never: the leader knows, or could do nothing about it, as where the member drains.
func (c *claim) tellAtLocked(limit time.Duration) time.Duration {
	was := c.pool.handOvers.told[c.key]
	switch {
	case !c.marked || c.draining:
	case c.before != nil && !was.stuck:
		return c.before.stuckAtLocked()
	case c.before == nil && c.flight > 0 && !was.over && limit > 0:
		return c.oldestLocked() + limit + time.Millisecond
	}
	return 0
}

// stuckAtLocked is from when on a claim counts as stuck that has ended with a task still running.
func (c *claim) stuckAtLocked() time.Duration { return c.leftAt + stuckAfter }

// watchHold sees to it that the leader is told in time.
func (l *loop) watchHold(at, now time.Duration) {
	switch {
	case at == 0:
		l.watches = 0 // it may be so again
	case at != l.watches && !l.alarm.isSet(atHold):
		l.watches = at
		l.alarm.set(atHold, at, now)
	}
}

// pastHold asks for a round, in which the leader hears of it. Over a plain sarama session the next one that comes tells.
func (l *loop) pastHold(now time.Duration) {
	l.pool.mu.Lock()
	at := l.tellAtLocked(l.plan.HoldLimit)
	l.pool.mu.Unlock()
	if own, ok := l.group.(member.Session); ok && at > 0 && at <= now {
		own.Yield()
	}
}

// report adds what runs on the partitions that the member has. Without a hold limit nothing is held back: the leader may take any.
func (p *pool) report(r *assign.Report, plan *config.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if plan.HoldLimit == 0 {
		return
	}
	p.handOvers.told, p.handOvers.since = nil, p.now()
	for _, places := range []map[Claim]*claim{p.claims, p.kept, p.strays} {
		for key, c := range places {
			// A task on a partition that is another member's by now is nobody's business any more: its message has begun again there.
			if r.Owned.Has(key.Topic, key.Partition) {
				p.reportLocked(r, c, plan.HoldLimit)
			}
		}
	}
	p.reportRoundLocked(r, !plan.WaitsForAll())
}

// reportLocked adds a claim. There may be two of a partition: one has ended with a task still running, and the next runs another.
func (p *pool) reportLocked(r *assign.Report, c *claim, limit time.Duration) {
	switch {
	case c.flight == 0 && c.ended.n == 0 && !c.unstored.Load():
		return
	case c.left && p.now() >= c.stuckAtLocked():
		r.Stuck.Put(c.key.Topic, c.key.Partition)
		p.tellLocked(c.key, told{stuck: true})
	case !c.left && p.now()-c.oldestLocked() > limit:
		r.Over.Put(c.key.Topic, c.key.Partition)
		p.tellLocked(c.key, told{over: true, limit: limit})
	}
	r.Busy.Put(c.key.Topic, c.key.Partition)
}

func (p *pool) tellLocked(key Claim, t told) {
	if p.handOvers.told == nil {
		p.handOvers.told = map[Claim]told{}
	}
	p.handOvers.told[key] = t
}

// reportRoundLocked adds the marks, and lets nothing start in the round on what is reported idle: the leader may just be giving it to
// somebody else. Where all tasks are so short that a rebalance waits for them that is not worth it.
func (p *pool) reportRoundLocked(r *assign.Report, waits bool) {
	for key := range p.handOvers.marks {
		if p.handOvers.keepsLocked(key) {
			r.Marked.Put(key.Topic, key.Partition)
		}
	}
	if p.handOvers.round = waits; waits {
		for _, c := range p.claims {
			c.reported = c.flight == 0
		}
	}
}
