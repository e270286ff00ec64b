package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/evenkeel-go/evenkeel/handler"
)

// ErrRanBefore is returned by a second call of [Consumer.Run].
var ErrRanBefore = errors.New("this consumer has run before: make a new one")

// Consumer is one member of a consumer group. Make it with [New]; safe for concurrent use.
type Consumer struct {
	cfg     Config
	work    handler.Handler
	tasks   atomic.Pointer[handler.GroupHandler] // Run replaces it before the first session, when the brokers' limits change the plan
	hooks   *hooks
	log     *slog.Logger
	ran     atomic.Bool
	watched watched
}

// New checks the configuration and the handler; it opens nothing. An error wraps [ErrConfig], and handler.ErrOptions too where that refuses
// an option; it names each faulty field, its value and what to put there.
func New(cfg Config, h handler.Handler) (*Consumer, error) {
	cfg = cfg.withDefaults()
	tasks, err := cfg.makeTasks(h)
	if err := errors.Join(cfg.check(), err); err != nil {
		return nil, err
	}
	c := &Consumer{cfg: cfg, work: h, hooks: sortHooks(cfg.Hooks, cfg.Logger), log: cfg.Logger}
	c.tasks.Store(tasks)
	c.watched.state = StateNew
	return c, nil
}

// makeTasks returns nil without a plan, which is told anyway.
func (c Config) makeTasks(h handler.Handler) (*handler.GroupHandler, error) {
	if !c.planned() {
		return nil, nil //nolint:nilnil // check has the error
	}
	opts := c.handlerOptions(c.Plan)
	if c.checkHooks() != nil {
		opts.Hooks = nil // told anyway
	}
	tasks, err := handler.New(h, opts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return tasks, nil
}

// Run consumes until ctx ends, and returns nil after such a stop: running tasks have the plan's StopGrace and are cancelled with
// handler.ErrDraining at its end, or at its start where the plan says StopCancelFirst (tasks too long to be waited for); what is finished is
// committed, or else told, and the member leaves the group. A member that waits for tasks drains meanwhile: it stays a member that starts
// nothing, and others have at once what is idle, and what is busy as it ends. Where it cannot (the plan's HoldLimit is 0, or another balance
// strategy is offered) its tasks have no more than the plan's Grace from the next rebalance on. The log says which of these it is. It returns
// at most 2 s after the grace, at most 6 s when no broker can be reached and no task runs; tasks that ignore their context outlive it, which
// is a warning, and [Consumer.Wait] waits for them.
//
// Brokers that cannot be reached, now or later, are waited for, with pauses that grow to 10 s. Run returns an error only for what
// waiting does not mend: see [FatalError]. Refused credentials, certificates and rights count as that only until the member has once been
// part of the group, and at the third try: they may be about to be mended.
//
// A second call returns [ErrRanBefore].
func (c *Consumer) Run(ctx context.Context) error {
	if !c.ran.CompareAndSwap(false, true) {
		return ErrRanBefore
	}
	defer c.watched.enter(StateStopped)
	c.tellReplaced(ctx)
	c.tellFewSlots(ctx)
	m, err := c.open(ctx)
	switch {
	case errors.Is(err, errStopped):
		c.log.InfoContext(ctx, "stopped")
		return nil
	case err != nil:
		c.hooks.failed(err)
		return err
	}
	return m.live(ctx)
}

// Wait returns nil as soon as no task runs, or the cause of ctx when it ends first. Call it after Run has returned, when tasks that
// did not end when they were cancelled should have the chance before the process ends. Their results are dropped all the same.
func (c *Consumer) Wait(ctx context.Context) error { return c.tasks.Load().Wait(ctx) }
