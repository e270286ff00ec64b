package handlertest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

// Options say how a [Run] behaves. The zero value is a plan for tasks of a minute.
type Options struct {
	// Plan is what the service uses. Default: config.For(time.Minute), which commits each finished task at once and, at a
	// revocation, cancels a running task first and then waits 5 s for it.
	Plan *config.Plan
	// Slots is handler.Options.Slots.
	Slots int
	// Order is handler.Options.Order.
	Order handler.Order
	// Key is handler.Options.Key.
	Key handler.KeyFunc
	// Retry is handler.Options.Retry. Outside a synctest bubble a test of failures wants short pauses here.
	Retry retry.Policy
	// Logger is handler.Options.Logger. Default: the test's own log, with each entry about a message ten times at most; how many more there
	// would be is told at the end.
	Logger *slog.Logger
	// Hooks is handler.Options.Hooks.
	Hooks []any
	// AllowStrays is for tests of a handler that ignores its context: tasks may still run when Stop returns. Without it such a task fails
	// the test. It has to return before the test ends all the same, or it disturbs the tests that follow.
	AllowStrays bool
	// Timeout is how long the methods that wait do so before they fail the test. Default 10 s; inside a synctest bubble 30 days.
	Timeout time.Duration
}

// inBubble says whether the clock is that of a synctest bubble, which starts at midnight UTC 2000-01-01.
func inBubble() bool { return time.Now().Year() < 2020 }

func (o Options) withDefaults(tb testing.TB) Options {
	tb.Helper()
	if o.Plan == nil {
		plan, err := config.For(time.Minute)
		if err != nil {
			tb.Fatalf("handlertest: default plan: %v", err)
		}
		o.Plan = plan
	}
	if o.Logger == nil {
		o.Logger = newLogger(tb)
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
		if inBubble() {
			o.Timeout = 30 * 24 * time.Hour
		}
	}
	return o
}

func (o Options) handler() handler.Options {
	return handler.Options{Plan: o.Plan, Slots: o.Slots, Order: o.Order, Key: o.Key, Retry: o.Retry, Logger: o.Logger, Hooks: o.Hooks}
}
