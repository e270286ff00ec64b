package handler

import "github.com/IBM/sarama"

// A claim is in one place of the pool at a time: held, kept when it has returned and its tasks go on, or a stray's when it was given up
// with a task still running. All of this needs the pool's lock.

// enterLocked makes c the claim of its partition. As long as a task of an earlier claim of it still runs, nothing starts: the
// tasks of a partition never overlap, not even with one that was given up.
func (p *pool) enterLocked(c *claim) {
	p.claims[c.key] = c
	p.blockLocked(c)
	c.marked, c.evicts = p.handOvers.keepsLocked(c.key), p.handOvers.stops[c.key]
	c.yields, c.reported = c.marked, p.handOvers.round
	c.back = p.handOvers.told[c.key].stuck && c.before == nil // it has returned in the round
}

func (p *pool) blockLocked(c *claim) {
	if s := p.strays[c.key]; s != nil {
		c.before, s.after = s, c
	}
}

// closeLocked takes c out of service: what has not started is dropped, what has ended is settled, and what runs goes on. A runner
// that finds the end of the intake does it as well as the claim's loop.
func (p *pool) closeLocked(c *claim) {
	c.closed = true
	c.lineup.clear()
	for r := c.active; r != nil; r = r.after {
		r.cutLocked()
		r.settleLocked(r.n - 1)
	}
	if c.queued {
		c.queued = false
		p.ring.Remove(c)
	}
}

// leaveLocked ends c. A task that still runs is a stray from now on, and its result is dropped. One that was kept is cancelled only now:
// it counts as abandoned when it has had its moment to return, see parted.
func (p *pool) leaveLocked(c *claim) (abandoned int) {
	c.left, c.leftAt = true, p.now()
	if c.kept {
		c.kept = false
		delete(p.kept, c.key) // its tasks count as strays already
		c.parting = c.flight > 0
	} else {
		p.stray += c.flight
	}
	p.unweighLocked(c)
	if p.claims[c.key] == c {
		delete(p.claims, c.key)
	}
	if c.flight > 0 {
		p.strays[c.key] = c
	}
	if c.parting {
		p.parting++
	} else {
		p.counts.Abandoned += int64(c.flight)
	}
	return c.flight
}

// returnedLocked takes note that a stray task of c has returned. The last one lets the next claim of the partition start, which is
// returned: its loop has to hear of it.
func (p *pool) returnedLocked(c *claim) (next *claim) {
	if c.flight > 0 {
		return nil
	}
	if p.strays[c.key] == c {
		delete(p.strays, c.key)
	}
	if next = c.after; next != nil {
		next.before, c.after = nil, nil
		next.back = p.handOvers.told[c.key].stuck
		p.readyLocked(next)
	}
	return next
}

// keepLocked lets the tasks of c go on without a claim.
func (p *pool) keepLocked(c *claim) {
	c.kept = true
	if p.claims[c.key] == c {
		delete(p.claims, c.key)
	}
	p.kept[c.key] = c
	p.stray += c.flight
}

// unkeepLocked takes back what keepLocked did.
func (p *pool) unkeepLocked(c *claim) {
	c.kept = false
	delete(p.kept, c.key)
	p.claims[c.key] = c
	p.stray -= c.flight
}

// adoptLocked gives the tasks of a kept claim to the next one of the partition, with what has ended of them already, and returns their
// messages.
func (p *pool) adoptLocked(c, old *claim) map[int64]*sarama.ConsumerMessage {
	delete(p.kept, old.key)
	p.stray -= old.flight
	p.unweighLocked(old)
	inHand := map[int64]*sarama.ConsumerMessage{}
	c.ended, c.failed = old.ended, old.failed
	for _, f := range old.failed {
		c.adoptScopeLocked(f.task)
		inHand[f.task.Offset] = f.task.ConsumerMessage
		c.lineup.holdFailed(f)
	}
	for r := old.active; r != nil; {
		next := r.after
		old.dischargeLocked(r)
		r.claim = c
		c.enlistLocked(r)
		for i := r.done; i < r.n; i++ {
			c.adoptScopeLocked(r.task(i))
			if !r.disowned {
				inHand[r.task(i).Offset] = r.task(i).ConsumerMessage
			}
			c.lineup.hold(r, i)
		}
		r = next
	}
	old.flight, old.kept = 0, false
	return inHand
}
