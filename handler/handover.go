package handler

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// A partition that the leader wants to go to another member stays where it is as long as a task runs there. It is marked: nothing more
// starts on it, and when it is idle its member asks for another round, in which it moves. All of this needs the pool's lock.

// errOverHold is the cause of tasks that have run for longer than the hold limit on a partition that has to move.
var errOverHold = fmt.Errorf("the task has run for longer than the plan's HoldLimit, and its partition has to move to another member: %w", ErrRevoked)

// mostMarks is how many rounds may leave a marked partition in place that was idle: then it goes back to work, and waits for nobody.
const mostMarks = 3

// handOvers is what the leader has said last.
type handOvers struct {
	round bool                    // a round goes on: what was idle at its begin starts nothing
	known bool                    // the leader leaves running tasks alone
	told  map[Claim]told          // with the latest report, of what does not just run
	since time.Duration           // when that report was made
	marks map[Claim]int           // to be handed over; how many rounds have left the partition in place although it was idle
	stops map[Claim]time.Duration // tasks that began until then are to be cancelled
}

// keepsLocked says that a mark is obeyed.
func (h *handOvers) keepsLocked(key Claim) bool {
	n, marked := h.marks[key]
	return marked && n < mostMarks
}

// handOver takes what the leader says with an assignment. What it has said before counts no longer.
func (p *pool) handOver(a strategy.Assignment, w strategy.Word) {
	p.mu.Lock()
	back := p.markLocked(w.HandOver)
	p.handOvers.stops, p.handOvers.known, p.handOvers.round = p.stopsLocked(w.Stop), w.Known, false
	var touched []*claim
	for _, c := range p.claims {
		if slices.Contains(a[c.key.Topic], c.key.Partition) {
			c.markLocked()
			touched = append(touched, c)
		}
	}
	p.mu.Unlock()
	for _, c := range touched {
		c.signal()
	}
	for _, key := range back {
		p.logger.Warn("the group does not take a partition that this member was told to hand over, and that is idle: going on there", attrTopic(key.Topic),
			attrPartition(key.Partition), slog.Int("rounds", mostMarks))
	}
}

// stopsLocked says which tasks the leader has stopped: one that it was told is past the limit, and all others of its partition with it, or
// whatever it was told of where others claim the partition.
func (p *pool) stopsLocked(sets assign.Partitions) map[Claim]time.Duration {
	stops := map[Claim]time.Duration{}
	for key := range claimsOf(sets) {
		stops[key] = p.handOvers.since
		if t := p.handOvers.told[key]; t.over {
			stops[key] -= t.limit
		}
	}
	return stops
}

// sessionBegins ends a round of which sarama has told nobody (see [ownership.begin]).
func (p *pool) sessionBegins() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handOvers.round = false
}

// markLocked replaces the marks, and returns those that are no longer obeyed.
func (p *pool) markLocked(sets assign.Partitions) (back []Claim) {
	marks := map[Claim]int{}
	for key := range claimsOf(sets) {
		n, before := p.handOvers.marks[key]
		switch {
		case !before || p.busyLocked(key):
			n = 0
		default:
			if n++; n == mostMarks {
				back = append(back, key)
			}
		}
		marks[key] = n
	}
	p.handOvers.marks = marks
	return back
}

func claimsOf(sets assign.Partitions) map[Claim]bool {
	claims := map[Claim]bool{}
	for topic, list := range sets {
		for _, partition := range list {
			claims[Claim{Topic: topic, Partition: partition}] = true
		}
	}
	return claims
}

// markLocked obeys what the leader has said last. A run of several tasks ends with the one that it is at.
func (c *claim) markLocked() {
	c.reported = false
	c.marked = c.pool.handOvers.keepsLocked(c.key)
	c.evicts = c.pool.handOvers.stops[c.key]
	c.yields = c.marked
	if !c.goingLocked() {
		c.pool.readyLocked(c)
		return
	}
	for r := c.active; r != nil; r = r.after {
		r.cutLocked()
		r.settleLocked(r.n - 1)
	}
}

// goingLocked says that nothing more starts: the partition is to go to another member, or this one stops.
func (c *claim) goingLocked() bool { return c.marked || c.draining }

// evictedLocked says that a task runs which the leader has stopped. It knew of those alone that ran when it was told.
func (c *claim) evictedLocked() bool {
	return c.evicts > 0 && c.flight > 0 && c.oldestLocked() <= c.evicts
}

// yieldsLocked says, once for each assignment, that a marked partition is idle.
func (c *claim) yieldsLocked() bool {
	yields := c.yields && c.entered && !c.closed && c.flight == 0 && c.before == nil
	c.yields = c.yields && !yields
	return yields
}

// leftAlone says that the leader takes no partition away on which a task of this member runs: tasks that go on need not be waited for.
// Without a hold limit it is told of none.
func (l *loop) leftAlone() bool {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.pool.handOvers.known && l.plan.HoldLimit > 0
}

// busyLocked says that a task runs on a partition, also one of an earlier claim.
func (p *pool) busyLocked(key Claim) bool {
	for _, c := range []*claim{p.claims[key], p.kept[key], p.strays[key]} {
		if c != nil && c.flight > 0 {
			return true
		}
	}
	return false
}

// holdingLocked lists the tasks that marked partitions wait for, also between two claims.
func (p *pool) holdingLocked(now time.Duration) (list []Holding) {
	for key := range p.handOvers.marks {
		if !p.handOvers.keepsLocked(key) {
			continue
		}
		for _, c := range []*claim{p.claims[key], p.kept[key]} {
			if c == nil {
				continue
			}
			if tasks := c.statusLocked(now).Tasks; len(tasks) > 0 {
				list = append(list, Holding{key, slices.MaxFunc(tasks, func(a, b RunningTask) int { return cmp.Compare(a.Age, b.Age) })})
			}
		}
	}
	return list
}

// yield asks for the round in which an idle partition moves. A plain sarama session is asked by the end of a claim.
func (l *loop) yield(now time.Duration) {
	if own, ok := l.group.(member.Session); ok {
		own.Yield()
		return
	}
	l.alarm.set(atYield, now+strategy.Spacing(l.plan), now)
}

// yieldBySession ends the claim, and sarama with it the session of all partitions: what runs there is taken over by the next one.
func (l *loop) yieldBySession() {
	l.pool.mu.Lock()
	idle := l.goingLocked() && l.flight == 0
	l.pool.mu.Unlock()
	l.open = l.open && !idle
}

// rejoin ends the session of a claim that has given its tasks up. sarama does it as well, when the claim returns, but not in order.
func (l *loop) rejoin() {
	if own, ok := l.group.(member.Session); ok {
		own.Rejoin(l.eviction)
	}
}

// oldestLocked is when the oldest of the runs began that go on.
func (c *claim) oldestLocked() time.Duration {
	oldest := c.pool.now()
	for r := c.active; r != nil; r = r.after {
		oldest = min(oldest, r.begin)
	}
	return oldest
}
