package consumer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// groupHandler is what sarama calls. It hands package handler a session with our own abilities, and keeps the lease beside it.
type groupHandler struct {
	*membership
	round *round
}

var _ sarama.ConsumerGroupHandler = (*groupHandler)(nil)

// Setup implements sarama.ConsumerGroupHandler.
func (g *groupHandler) Setup(s sarama.ConsumerGroupSession) error {
	own := newSession(g.membership, g.round, s)
	g.round.enter(own)
	g.watched.joined(s.MemberID(), s.GenerationID())
	if !g.watched.heard(s.GenerationID()) { // a group of the user without our strategies
		g.assigned("", s.Claims(), s.GenerationID())
	}
	if own.tenure != nil {
		own.tenure.enter(own)
	}
	return g.tasks.Setup(s)
}

// Cleanup implements sarama.ConsumerGroupHandler. sarama calls it also after a Setup that failed.
func (g *groupHandler) Cleanup(s sarama.ConsumerGroupSession) error {
	own := g.round.leave()
	if own != nil && own.tenure != nil {
		own.tenure.leave()
	}
	g.sessionEnded(own)
	return g.tasks.Cleanup(s)
}

// ConsumeClaim implements sarama.ConsumerGroupHandler.
func (g *groupHandler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	g.round.claimed(1)
	defer g.round.claimed(-1)
	own := g.round.live()
	if own == nil || own.tenure == nil {
		return g.tasks.ConsumeClaim(s, c)
	}
	return g.tasks.ConsumeClaim(own, c)
}

func (g *groupHandler) sessionEnded(own *session) {
	cause := context.Cause(own.Context())
	e := SessionEnd{
		Kind: own.endKind(), Cause: cause, MemberID: own.MemberID(), Generation: own.GenerationID(), Lasted: time.Since(own.since),
	}
	g.round.finish(sessionEnd{kind: e.Kind, lasted: e.Lasted})
	g.watched.sessionEnded(e)
	level := slog.LevelInfo
	if e.Kind == EndLost || e.Kind == EndClaim {
		level = slog.LevelWarn
	}
	g.log.LogAttrs(context.Background(), level, "session ended", slog.String("kind", string(e.Kind)), slog.Any("cause", cause),
		slog.String("member", e.MemberID), slog.Int("generation", int(e.Generation)), slog.Duration("lasted", e.Lasted))
	g.hooks.ended(e)
}

// endKind tells the ends of sessions apart.
func (s *session) endKind() EndKind {
	if s.Stopping() {
		return EndStop
	}
	kind := kindOf(context.Cause(s.Context()))
	switch { // a claim may hear of it before the session's context does, and sarama then says that a claim has returned
	case kind == EndClaim && over(s.round.run):
		return EndStop
	case kind == EndClaim && s.tenure != nil && s.tenure.over.Load():
		return EndLost
	case kind == EndStop && s.tenure != nil && !over(s.round.run): // a cooperative join has failed, and sarama gives no cause
		return EndLost
	}
	return kind
}

func kindOf(cause error) EndKind {
	switch {
	case errors.Is(cause, handler.ErrLost): // whatever the last answer was
		return EndLost
	case errors.Is(cause, handler.ErrDraining), errors.Is(cause, context.Canceled):
		return EndStop
	case errors.Is(cause, sarama.ErrRebalanceInProgress), errors.Is(cause, sarama.ErrSessionPartitionCountChanged),
		errors.Is(cause, handler.ErrRevoked):
		return EndRebalance
	case errors.Is(cause, sarama.ErrSessionConsumeClaimExited):
		return EndClaim
	default:
		return EndLost
	}
}
