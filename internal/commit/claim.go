package commit

import (
	"context"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// Owner is whose commit it is: the identity that the broker checks. Name and generation are asked for just before each request, and not
// after [Claim.Release].
type Owner interface {
	MemberID() string
	// Generation is that of the latest assignment this member has received while it holds the claim, or an older one where it has missed
	// one in between and nobody has said yet that the claim is still its own: the broker refuses it.
	Generation() int32
	// Trust is that of [member.Committer].
	Trust(generation int32)
}

// Claim commits the offsets of one claimed partition. Its methods are called by one goroutine at a time.
type Claim struct {
	Topic     string
	Partition int32

	loop   *Loop
	owner  Owner
	lookUp func(ctx context.Context) (member.Position, error)

	// Under the loop's lock.
	pending   member.Position // to be sent
	due       bool            // there is something to be sent
	textless  bool            // the broker refuses the text, however short the limit said it is
	refusal   error           // the answer to the latest one, where the broker will not store it
	sending   bool            // in the request that is under way
	queued    bool            // in due
	released  bool
	restarted bool      // its topic is another one now: nothing but the start is committed
	tries     int       // since the last answer that settled it
	since     time.Time // when pending was handed over
	awaited   time.Time // since when there is no answer to it, nor to any that it has replaced
	notBefore time.Time // pause after a failure
	answered  chan struct{}
	base      member.Position // what the broker has stored; with the stamp that begins the claim, whether or not it is
	trouble   error           // of the latest answer
	unsent    bool            // pending was given up while an older offset was on its way
	again     bool            // pending is stored, and is sent again: see ghost
	ghostly   time.Time       // until when a ghost may come; zero for none
}

// Committed returns what the broker has stored for the group, offset -1 for nothing. It asks the broker, at most until ctx ends.
func (c *Claim) Committed(ctx context.Context) (member.Position, error) {
	p, err := c.lookUp(ctx)
	if err == nil {
		c.begins(p)
	}
	return p, err
}

func (c *Claim) begins(p member.Position) {
	c.loop.mu.Lock()
	defer c.loop.mu.Unlock()
	c.base = p
}

// Commit hands a position over. The latest wins. It never blocks.
func (c *Claim) Commit(p member.Position) {
	l := c.loop
	l.mu.Lock()
	if !c.released && !c.restarted {
		c.awaitLocked()
		c.pending, c.due, c.since = p, true, time.Now()
		if c.again {
			c.again, c.notBefore = false, time.Time{}
		}
		l.queueLocked(c)
	}
	l.mu.Unlock()
	l.signal()
}

// awaitLocked begins the wait for an answer, unless one is waited for already. What is sent once more waits for none.
func (c *Claim) awaitLocked() {
	if !c.due && !c.sending || c.again {
		c.awaited = time.Now()
	}
}

// Store hands over the position at which a claim begins, and waits for the answer, at most until ctx ends.
func (c *Claim) Store(ctx context.Context, p member.Position) error {
	c.begins(p)
	c.Commit(p)
	if err := c.Settled(ctx); err != nil {
		return err
	}
	c.loop.mu.Lock()
	defer c.loop.mu.Unlock()
	return c.refusal
}

// Trust implements [member.Committer].
func (c *Claim) Trust(generation int32) { c.owner.Trust(generation) }

// MaxMetadata is how long a position's text may be, in bytes.
func (c *Claim) MaxMetadata() int { return c.loop.opts.MaxMetadata }

// Settled waits until what was handed over is answered, at most until ctx ends, whose cause it returns then. What the broker will not
// store is answered too.
func (c *Claim) Settled(ctx context.Context) error {
	if ctx.Err() == nil {
		c.hurry() // else what is due would be sent just before it is dropped
	}
	for wait := c.unanswered(); wait != nil; wait = c.unanswered() {
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Release waits until the latest offset has been answered, at most until ctx ends, and gives the claim up: [Options].Send is not called
// with an offset of it any more. Where ctx has ended first, a request that Send was called with before may still be on its way. Then, and
// where the offset was not sent, the last [Result] of the claim says so: [Dropped], unless that answer is another one.
func (c *Claim) Release(ctx context.Context) {
	_ = c.Settled(ctx)
	c.giveUp()
}

// hurry ends the pause after a failure and the spacing of requests: somebody waits.
func (c *Claim) hurry() {
	c.loop.mu.Lock()
	c.notBefore = time.Time{}
	c.loop.urgent = c.loop.urgent || c.due
	c.loop.mu.Unlock()
	c.loop.signal()
}

// unanswered returns a channel that is closed at the next answer, nil when there is nothing to wait for.
func (c *Claim) unanswered() <-chan struct{} {
	c.loop.mu.Lock()
	defer c.loop.mu.Unlock()
	if !c.due && !c.sending || c.again {
		return nil
	}
	if c.answered == nil {
		c.answered = make(chan struct{})
	}
	return c.answered
}
