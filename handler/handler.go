package handler

import (
	"context"
	"log/slog"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

// Handler does the work of one message. It is called from several goroutines at once, never twice at once for one partition.
type Handler interface {
	Handle(ctx context.Context, t *Task) error
}

// Func is a function as a [Handler].
type Func func(ctx context.Context, t *Task) error

// Handle calls f.
func (f Func) Handle(ctx context.Context, t *Task) error { return f(ctx, t) }

// Options say how a [GroupHandler] runs tasks. Only Plan has to be set.
type Options struct {
	// Plan gives grace, backlog and commit pace. Required: see [config.For].
	Plan *config.Plan
	// Slots is how many tasks run at once in this member. Default: one a claimed partition; 1 makes a strictly serial consumer.
	Slots int
	// Retry is the pause between attempts of a failed task.
	Retry retry.Policy
	// Logger defaults to slog.Default().
	Logger *slog.Logger
	// Hooks are values that implement one or more of the hook interfaces of this package.
	Hooks []any
}

// GroupHandler is the sarama.ConsumerGroupHandler that runs a [Handler].
type GroupHandler struct{}

var _ sarama.ConsumerGroupHandler = (*GroupHandler)(nil)

// New checks the options and returns the handler for sarama's Consume.
func New(h Handler, o Options) (*GroupHandler, error) { panic("being written") }

// Setup implements sarama.ConsumerGroupHandler.
func (g *GroupHandler) Setup(s sarama.ConsumerGroupSession) error { panic("being written") }

// Cleanup implements sarama.ConsumerGroupHandler.
func (g *GroupHandler) Cleanup(s sarama.ConsumerGroupSession) error { panic("being written") }

// ConsumeClaim implements sarama.ConsumerGroupHandler.
func (g *GroupHandler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	panic("being written")
}

// BalanceStrategies wraps strategies (default: cooperative-sticky, or sticky for an eager plan) so that the handler hears each assignment.
func (g *GroupHandler) BalanceStrategies(s ...sarama.BalanceStrategy) []sarama.BalanceStrategy {
	panic("being written")
}
