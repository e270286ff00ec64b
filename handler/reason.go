package handler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// Reason is why a claim ends. A higher one leaves less time.
type Reason int

const (
	// StreamEnded: sarama closed the partition's messages although it is still ours (an offset out of range, say). The claim ends
	// without waiting for running tasks, and sarama ends the session of all partitions. The tasks go on, and the next claim of the
	// partition takes them over. Where a second strategy is offered nothing may go on between two claims: there the claim waits for
	// them, until they end or a more urgent reason comes up. Told from a revocation only with the strategies of
	// [GroupHandler.BalanceStrategies]; without them it counts as one.
	StreamEnded Reason = iota
	// Stopping: the context given to Consume or Run has ended. Running tasks get the plan's StopGrace, and no more than its Grace once
	// the group rebalances: that is a Rebalance then, which package consumer hears of.
	Stopping
	// Rebalance: the partition was revoked, or the session ended in order. Running tasks get the plan's Grace.
	Rebalance
	// Lost: the membership is lost or in doubt. Running tasks are cancelled at once.
	Lost
)

// String returns the reason in a few words.
func (r Reason) String() string {
	return [...]string{"stream ended", "stop", "rebalance", "membership lost"}[r]
}

// grace is how long running tasks are waited for; limited is false when they may take their time.
func (r Reason) grace(p *config.Plan) (d time.Duration, limited bool) {
	switch r {
	case StreamEnded:
		return 0, false
	case Stopping:
		return p.StopGrace, true
	case Rebalance:
		return p.Grace, true
	default:
		return 0, true
	}
}

// graceOf is what is left of the grace of a reason.
func (l *loop) graceOf(r Reason) (d time.Duration, limited bool) {
	d, limited = r.grace(l.plan)
	if own, ok := l.group.(member.Session); ok && r == Stopping {
		d = min(d, own.StopGrace())
	}
	return d, limited
}

// windDown is how long a task that was cancelled at the end of the grace may take to return before it is given up. A stop that was
// given time has some more; what a rebalance waits for is only what a task that obeys its context needs, so that it has ended
// before its partition can move.
func (r Reason) windDown(p *config.Plan) time.Duration {
	if r == Stopping {
		return max(shortWindDown, min(p.StopGrace, stopWindDown))
	}
	return shortWindDown
}

// cancelsFirst says whether tasks are cancelled at the start of the grace, which is then for winding down.
func (r Reason) cancelsFirst(p *config.Plan) bool {
	return r == Lost || r == Rebalance && p.CancelFirst || r == Stopping && p.StopCancelFirst
}

// reason looks at the signs of revocation, the most urgent first.
func (l *loop) reason() Reason {
	switch {
	case l.work.Err() != nil, l.dispossess != nil:
		return Lost
	case stopping(l.group):
		return l.orHurried()
	case l.eviction != nil:
		return Rebalance
	case l.session.Err() != nil:
		return l.endOf(context.Cause(l.session))
	case l.heard.holds(l.key, l.group.GenerationID()):
		return StreamEnded
	default:
		return Rebalance
	}
}

// orHurried is Stopping, unless others wait for what the member still holds: then their rebalance is what leaves less time.
func (l *loop) orHurried() Reason {
	select {
	case <-hurry(l.group):
		return Rebalance
	default:
		return Stopping
	}
}

// hurry is closed when the group rebalances while the member stops. A plain sarama session never tells.
func hurry(s sarama.ConsumerGroupSession) <-chan struct{} {
	if own, ok := s.(member.Session); ok {
		return own.Hurry()
	}
	return nil
}

// endOf is why the session has ended. What the network did to a session says nothing about the membership where its lease is watched; nor is
// it a stop there that sarama lets a session go without a cause, as it does when a cooperative join has failed
// (consumer_group_cooperative.go:13), and may do when the round has ended it with one.
func (l *loop) endOf(cause error) Reason {
	r := reasonOf(cause)
	if _, leased := l.group.(member.Session); !leased {
		return r
	}
	if r == Stopping || r == Lost && !errors.Is(cause, ErrLost) && !fromBroker(cause) {
		return Rebalance
	}
	return r
}

// stopping says for sure that the user has ended the session. A plain sarama session leaves it to the cause.
func stopping(s sarama.ConsumerGroupSession) bool {
	own, ok := s.(member.Session)
	return ok && own.Stopping()
}

// cause is what the contexts of the tasks end with.
func (l *loop) cause(r Reason) error {
	switch {
	case r == Stopping:
		return ErrDraining
	case r != Lost && l.eviction != nil:
		return l.eviction
	case r != Lost:
		return ErrRevoked
	case l.work.Err() != nil:
		return workCause(l.work)
	case l.dispossess != nil:
		return lostBy(l.dispossess)
	default:
		return lostBy(context.Cause(l.session))
	}
}

// workCause is what the tasks of a member end with that has to stop them all at once.
func workCause(work context.Context) error {
	if cause := context.Cause(work); errors.Is(cause, ErrDraining) {
		return cause
	}
	return lostBy(context.Cause(work))
}

// lostBy makes an error that is ErrLost, and says how the membership was lost.
func lostBy(cause error) error {
	if errors.Is(cause, ErrLost) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrLost, cause)
}
