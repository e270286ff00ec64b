package handlertest

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/span"
)

// Revocation is a way of losing partitions.
type Revocation int

const (
	// Eager ends the session, as a rebalance of an eager group does: session.Context() is cancelled with sarama.ErrRebalanceInProgress,
	// then Messages closes.
	Eager Revocation = iota
	// Cooperative closes Messages and nothing else: the session lives on.
	Cooperative
	// Lost ends the session of a member that the broker has removed, with sarama.ErrUnknownMemberId. What was not committed before
	// is not committed any more.
	Lost
)

// String returns the way in a word.
func (how Revocation) String() string { return [...]string{"eager", "cooperative", "lost"}[how] }

// lastMoment is how long Stop waits for tasks that were given up.
const lastMoment = time.Second

// Revoke takes all claimed partitions away and waits until the handler has let them go: at most the plan's grace and a second, even
// if a task hangs. What is marked is then committed, except after [Lost].
func (r *Run) Revoke(how Revocation) {
	r.tb.Helper()
	if r.session == nil {
		r.tb.Fatalf("handlertest: Revoke: nothing is claimed: deliver or assign something first")
	}
	switch how {
	case Cooperative:
		r.generation++
		r.session.generation.Store(r.generation)
		r.release()
	case Lost:
		r.session.lost.Store(true)
		r.end(sarama.ErrUnknownMemberId)
	default:
		r.end(sarama.ErrRebalanceInProgress)
	}
}

// Stop ends the run as a service stops: running tasks get the plan's StopGrace, what is finished is committed. It is called at
// the end of the test; a second call does nothing.
//
// A task that still runs a second after the grace fails the test, be it of a partition that was revoked before: its handler hangs, or
// does not obey its context. See Options.AllowStrays.
func (r *Run) Stop() {
	r.tb.Helper()
	if r.stopped {
		return
	}
	if r.session != nil {
		r.end(context.Canceled)
	}
	r.stopped = true
	if !r.opts.AllowStrays {
		r.wantNoStrays()
	}
}

func (r *Run) wantNoStrays() {
	r.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lastMoment)
	defer cancel()
	if r.g.Wait(ctx) == nil {
		return
	}
	r.mu.Lock()
	running := messageTexts(r.running)
	r.mu.Unlock()
	if len(running) > 0 { // else it has returned just now
		r.tb.Errorf("handlertest: a task still runs after the stop and its grace of %v: %s: the handler has to return soon when its context "+
			"ends; set Options.AllowStrays where a test is about one that does not\n%s", span.Text(r.opts.Plan.StopGrace), strings.Join(running, " "), r.text())
	}
}

// end ends the session: cancel, wait for every ConsumeClaim, Cleanup, last commit.
func (r *Run) end(cause error) {
	r.tb.Helper()
	s := r.session
	r.session = nil
	s.cancel(cause)
	r.wait(s)
	_ = r.g.Cleanup(s) // always nil
	r.letGo(s)
}

// release ends the claims of a session that lives on.
func (r *Run) release() {
	r.tb.Helper()
	r.wait(r.session)
	r.letGo(r.session)
}

// wait closes the claims and waits until they have returned.
func (r *Run) wait(s *session) {
	r.tb.Helper()
	for _, c := range s.claims {
		c.close()
	}
	plan := r.opts.Plan
	limit := time.NewTimer(r.opts.Timeout + max(plan.Grace, plan.StopGrace))
	defer limit.Stop()
	for _, c := range s.claims {
		select {
		case <-c.returned:
		case <-limit.C:
			r.tb.Fatalf("handlertest: ConsumeClaim of %s did not return\n%s", c.p, r.text())
		}
	}
}

// letGo commits what is marked and forgets the claims.
func (r *Run) letGo(s *session) {
	s.timer.Stop()
	s.Commit()
	r.change(func(*Run) {
		for _, c := range s.claims {
			c.p.claim, c.p.dirty = nil, false
		}
	})
	s.claims = nil
}

// claim gives a partition to the member unless it has it.
func (r *Run) claim(p *partition) {
	r.tb.Helper()
	if r.session != nil && r.session.ctx.Err() != nil { // a claim has ended it
		r.end(nil)
	}
	if p.claim == nil {
		r.open(p, &logSource{run: r, p: p, position: max(p.committed.offset, 0)})
	}
}

// open starts ConsumeClaim, and a session where there is none.
func (r *Run) open(p *partition, from source) {
	r.tb.Helper()
	if r.session == nil {
		r.generation++
		r.session = newSession(r)
		_ = r.g.Setup(r.session) // always nil
	}
	c := r.newClaim(p, from)
	r.session.claims = append(r.session.claims, c)
	r.change(func(*Run) { p.claim, p.claimed, p.marked, p.dirty = c, true, p.committed, false })
	// Ends when the claim is closed, or its source.
	c.wg.Go(c.feed)
	if s, ok := from.(*consumerSource); ok {
		// Ends when the partition consumer is closed, which consume does.
		c.wg.Go(func() {
			for err := range s.pc.Errors() {
				r.opts.Logger.Warn("the partition consumer reports an error", slog.Any("error", err))
			}
		})
	}
	// Ends soon after the claim is closed; wait waits for it.
	go c.consume()
}

func (r *Run) newClaim(p *partition, from source) *claim {
	c := &claim{
		p: p, session: r.session, source: from, initial: p.committed.offset,
		messages: make(chan *sarama.ConsumerMessage, r.opts.Plan.ChannelBufferSize),
		dying:    make(chan struct{}), returned: make(chan struct{}),
	}
	if c.initial < 0 {
		c.initial = sarama.OffsetOldest
	}
	return c
}

func claimOf(topic string, partition int32) handler.Claim {
	return handler.Claim{Topic: topic, Partition: partition}
}
