package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// batch is a request with the claims of its offsets.
type batch struct {
	Request
	claims []*Claim
	since  []time.Time
}

// sendDue sends all that is due and returns when to look again, 0 for when something comes.
func (l *Loop) sendDue(ctx context.Context) (pause time.Duration) {
	if left := l.tooSoon(); left > 0 {
		return left
	}
	for _, b := range l.batches() {
		l.recall(b)
		l.tellDropped()
		if len(b.claims) == 0 {
			continue
		}
		errs, err := l.opts.Send(ctx, b.Request)
		if l.moved(errs, err) {
			l.opts.Moved(ctx)
		}
		for i := range b.claims {
			l.settle(b, i, answerTo(i, errs, err))
		}
		l.went(err)
	}
	l.tellDropped()
	return l.nextLook()
}

// tooSoon is how long the spacing still lasts.
func (l *Loop) tooSoon() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.opts.Spacing - time.Since(l.sent)
	if len(l.due) == 0 || !l.urgent && left > 0 {
		return max(left, 0)
	}
	l.urgent, l.sent = false, time.Now()
	return 0
}

// went remembers how the latest request fared, for claims that none has carried.
func (l *Loop) went(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = err
}

// answerTo is the error of one offset: the request's own counts for all of it.
func answerTo(i int, errs []error, err error) error {
	if err == nil && i < len(errs) {
		return errs[i]
	}
	return err
}

// nextLook is the time until the first claim that pauses is due again.
func (l *Loop) nextLook() (pause time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.due {
		if d := max(time.Until(c.notBefore), time.Microsecond); pause == 0 || d < pause {
			pause = d
		}
	}
	return pause
}

// batches takes what is due, by owner: all claims of a session have the same one, so that it is one request as a rule.
func (l *Loop) batches() (list []*batch) {
	for _, c := range l.takeDue() {
		list = l.addTo(list, c, c.owner.MemberID(), c.owner.Generation()) // asked without the lock
	}
	return list
}

// takeDue returns the claims to send for now. Those that pause after a failure stay, even when a new offset has come: an answer
// that does not change must not be asked for with each task that ends.
func (l *Loop) takeDue() (now []*Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	later := l.due[:0]
	for _, c := range l.due {
		switch {
		case !c.due || c.released:
			c.queued = false
		case time.Until(c.notBefore) > 0:
			later = append(later, c)
		default:
			c.queued, c.sending = false, true
			now = append(now, c)
		}
	}
	clear(l.due[len(later):])
	l.due = later
	return now
}

func (l *Loop) addTo(list []*batch, c *Claim, id string, generation int32) []*batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	position, since := c.pending, c.since
	if c.textless {
		position.Metadata = ""
	}
	if c.released || !c.due {
		l.answeredLocked(c)
		l.lastWordLocked(c)
		return list
	}
	c.due = false
	var b *batch
	for _, old := range list {
		if old.MemberID == id && old.Generation == generation {
			b = old
		}
	}
	if b == nil {
		b = &batch{Request: Request{MemberID: id, Generation: generation}}
		list = append(list, b)
	}
	b.Offsets = append(b.Offsets, Offset{Topic: c.Topic, Partition: c.Partition, Position: position})
	b.claims, b.since = append(b.claims, c), append(b.since, since)
	return list
}

// recall takes out of a batch what was released since it was put together: it has waited for the batches before it.
func (l *Loop) recall(b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := 0
	for i, c := range b.claims {
		if c.released {
			if !c.unsent && !c.again {
				l.dropLocked(c, b.Offsets[i].Position, b.since[i])
			}
			l.lastWordLocked(c)
			l.answeredLocked(c)
			continue
		}
		b.claims[kept], b.since[kept], b.Offsets[kept] = c, b.since[i], b.Offsets[i]
		kept++
	}
	b.claims, b.since, b.Offsets = b.claims[:kept], b.since[:kept], b.Offsets[:kept]
}

// settle takes an answer. What is not settled is due again after a pause, unless a later offset has come or the claim is over.
func (l *Loop) settle(b *batch, i int, err error) {
	c, o := b.claims[i], b.Offsets[i]
	r := Result{Offset: o, MemberID: b.MemberID, Err: err, Verdict: Judge(err), Elapsed: time.Since(b.since[i])}
	l.mu.Lock()
	l.hauntLocked(c, b.Request, err)
	c.tries++
	r.Tries, c.refusal = c.tries, nil
	if r.Verdict == Refused || r.Verdict == Lost {
		c.refusal = err
	}
	if r.Verdict == Done {
		c.base = o.Position
	}
	untold := c.released && c.again // it was stored before
	switch {
	case untold:
	case c.released && r.Verdict == Again:
		r.Verdict, r.Err = Dropped, l.troubleLocked(c, fmt.Errorf("%w: %w", ErrUnanswered, err))
	case c.released:
	case errors.Is(err, sarama.ErrOffsetMetadataTooLarge) && !c.textless:
		c.textless = true // the offset counts for more
		c.handBack(o.Position, b.since[i])
	case r.Verdict == Done:
		c.tries = 0
		l.stored[key{c.Topic, c.Partition}] = confirmation{o.Offset, c}
		l.confirmLocked(c, b.Request, o.Position)
	case r.Verdict == Again:
		c.notBefore = time.Now().Add(pauseOf(c.tries))
		c.handBack(o.Position, b.since[i])
	}
	if !c.released {
		c.trouble = err
	}
	l.weighLocked(c, &r)
	l.answeredLocked(c)
	l.lastWordLocked(c)
	l.mu.Unlock()
	if !untold {
		l.opts.Notify(r)
	}
	l.tellDropped()
}

// handBack makes a position due again, unless a later one has come.
func (c *Claim) handBack(p member.Position, since time.Time) {
	if !c.due {
		c.pending, c.due, c.since = p, true, since
	}
}

// answeredLocked ends the sending of c, and lets those look again who wait for an answer.
func (l *Loop) answeredLocked(c *Claim) {
	c.sending = false
	if c.answered != nil {
		close(c.answered)
		c.answered = nil
	}
	if c.due && !c.released {
		l.queueLocked(c)
	}
}

func pauseOf(tries int) time.Duration {
	return min(firstPause<<min(tries-1, 10), lastPause)
}

// moved says whether the coordinator has to be looked up again.
func (l *Loop) moved(errs []error, err error) bool {
	for _, e := range append(errs, err) {
		if errors.Is(e, sarama.ErrNotCoordinatorForConsumer) || errors.Is(e, sarama.ErrConsumerCoordinatorNotAvailable) {
			return true
		}
	}
	return false
}
