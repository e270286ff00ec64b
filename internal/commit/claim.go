package commit

import (
	"context"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// Owner is whose commit it is: the identity that the broker checks. Both methods are asked just before each request, and not after
// [Claim.Release].
type Owner interface {
	MemberID() string
	// Generation is that of the latest assignment this member has received while it holds the claim.
	Generation() int32
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
	notBefore time.Time // pause after a failure
	answered  chan struct{}
}

// Committed returns what the broker has stored for the group, offset -1 for nothing. It asks the broker, at most until ctx ends.
func (c *Claim) Committed(ctx context.Context) (member.Position, error) { return c.lookUp(ctx) }

// Commit hands a position over. The latest wins. It never blocks.
func (c *Claim) Commit(p member.Position) {
	l := c.loop
	l.mu.Lock()
	if !c.released && !c.restarted {
		c.pending, c.due, c.since = p, true, time.Now()
		l.queueLocked(c)
	}
	l.mu.Unlock()
	l.signal()
}

// Store hands a position over and waits for the answer, at most until ctx ends.
func (c *Claim) Store(ctx context.Context, p member.Position) error {
	c.Commit(p)
	if err := c.Settled(ctx); err != nil {
		return err
	}
	c.loop.mu.Lock()
	defer c.loop.mu.Unlock()
	return c.refusal
}

// MaxMetadata is how long a position's text may be, in bytes.
func (c *Claim) MaxMetadata() int { return c.loop.opts.MaxMetadata }

// Settled waits until what was handed over is answered, at most until ctx ends, whose cause it returns then. What the broker will not
// store is answered too.
func (c *Claim) Settled(ctx context.Context) error {
	c.hurry()
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
// with an offset of it any more. Where ctx has ended first, a request that Send was called with before may still be on its way, and its
// answer counts for nothing.
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
	if !c.due && !c.sending {
		return nil
	}
	if c.answered == nil {
		c.answered = make(chan struct{})
	}
	return c.answered
}

func (c *Claim) giveUp() {
	c.loop.mu.Lock()
	defer c.loop.mu.Unlock()
	c.released, c.due = true, false
	delete(c.loop.held, c)
	c.loop.emptyLocked()
	if k := (key{c.Topic, c.Partition}); c.loop.stored[k].claim == c { // the next claim may have begun
		delete(c.loop.stored, k)
	}
}
