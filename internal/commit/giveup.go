package commit

import (
	"errors"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// Errors of offsets that were dropped where nothing else had gone wrong before. Otherwise it is that: what comes afterwards is mostly the
// echo of our own end.
var (
	// ErrUnsent says that no request has carried the offset.
	ErrUnsent = errors.New("the partition was given up before the commit was sent")
	// ErrUnanswered says that one has.
	ErrUnanswered = errors.New("the partition was given up before the commit was answered")
)

// GiveUp gives all claims up that are still held, as [Claim.Release] does without waiting. It is for the end, when nobody sends any more.
func (l *Loop) GiveUp() {
	l.mu.Lock()
	var held []*Claim
	for c := range l.held {
		held = append(held, c)
	}
	l.mu.Unlock()
	for _, c := range held {
		c.giveUp()
	}
}

// giveUp is told of what was not sent, unless an older offset is in the request that is under way: its answer comes first.
func (c *Claim) giveUp() {
	l := c.loop
	l.mu.Lock()
	if c.released {
		l.mu.Unlock()
		return
	}
	c.unsent = c.due && !c.again
	c.released, c.due = true, false
	delete(l.held, c)
	l.emptyLocked()
	if k := (key{c.Topic, c.Partition}); l.stored[k].claim == c { // the next claim may have begun
		delete(l.stored, k)
	}
	if !c.sending {
		l.lastWordLocked(c)
	}
	l.mu.Unlock()
	l.tellDropped()
}

// lastWordLocked is told of an offset that is newer than the one that was answered, and is dropped.
func (l *Loop) lastWordLocked(c *Claim) {
	if c.unsent {
		c.unsent = false
		l.dropLocked(c, c.pending, c.since)
	}
}

// dropLocked makes the result of an offset that is sent no more.
func (l *Loop) dropLocked(c *Claim, p member.Position, since time.Time) {
	r := Result{
		Offset: Offset{Topic: c.Topic, Partition: c.Partition, Position: p}, Err: l.troubleLocked(c, ErrUnsent), Verdict: Dropped,
		Tries: c.tries, Elapsed: time.Since(since),
	}
	l.weighLocked(c, &r)
	l.dropped = append(l.dropped, r)
}

// troubleLocked is the latest thing that went wrong before c was given up, or the last resort.
func (l *Loop) troubleLocked(c *Claim, last error) error {
	for _, err := range []error{c.trouble, l.trouble} {
		if err != nil {
			return err
		}
	}
	return last
}

// tellDropped notifies of what was dropped.
func (l *Loop) tellDropped() {
	l.mu.Lock()
	dropped := l.dropped
	l.dropped = nil
	l.mu.Unlock()
	for _, r := range dropped {
		l.opts.Notify(r)
	}
}

// weighLocked finds out what a last word that is not a good one costs.
func (l *Loop) weighLocked(c *Claim, r *Result) {
	if r.Verdict == Done || r.Verdict == Again {
		return
	}
	r.Finished = finishes(r.Position, c.base)
	for other := range l.held {
		r.Kept = r.Kept || other != c && other.Topic == c.Topic && other.Partition == c.Partition
	}
}

// finishes says that more is finished by p than the broker has stored: the stamp of a claim's begin, say, finishes nothing, nor does the
// start of a topic that has become another one.
func finishes(p, stored member.Position) bool {
	if p.Offset != stored.Offset {
		return p.Offset > stored.Offset
	}
	now, _ := offset.Decode(p.Metadata, p.Offset)
	before, _ := offset.Decode(stored.Metadata, stored.Offset)
	return len(now.Finished) > 0 && !slices.Equal(now.Finished, before.Finished)
}
