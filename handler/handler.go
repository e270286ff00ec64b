package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

// Handler does the work of one message. It is called from several goroutines at once; for one partition, or one key, as Options.Order says.
//
// ctx ends when the task's time is over (see context.Cause: [ErrRevoked], [ErrDraining], [ErrLost]) and after Handle has returned. It has
// the values of the context given to Consume, and no deadline. nil is success; any error is a failure, which is tried again for as
// long as the partition is ours, unless it comes after the end of ctx. A panic and runtime.Goexit are failures too.
type Handler interface {
	Handle(ctx context.Context, t *Task) error
}

// Func is a function as a [Handler].
type Func func(ctx context.Context, t *Task) error

// Handle calls f.
func (f Func) Handle(ctx context.Context, t *Task) error { return f(ctx, t) }

// Options say how a [GroupHandler] runs tasks. Only Plan has to be set.
type Options struct {
	// Plan gives graces, backlog and commit pace. Required: see [config.For].
	Plan *config.Plan
	// Slots is how many tasks run at once in this member. Default 0: as many as partitions are claimed; 1 makes a strictly serial consumer.
	Slots int
	// Order says what the order of messages is kept for. Default: [ByPartition].
	Order Order
	// Key is what [ByKey] orders by. Default: the message's key.
	Key KeyFunc
	// PartitionSlots is how many tasks of one partition may run at once. Default 0: no limit but Slots. Not with [ByPartition], where it is 1.
	PartitionSlots int
	// KeySlots is how many tasks of one key may run at once. Default 1, which keeps their order; more give it up. Only with [ByKey].
	KeySlots int
	// BacklogBytes bounds what all partitions of this member hold together, running tasks included: keys, values, headers, and 256
	// bytes a message. At the bound each partition is fetched one message at a time. Default 256 MiB. The bounds of a single partition are
	// the plan's: BacklogMessages (at least 10,000 with order by key or none) and BacklogBytes.
	BacklogBytes int64
	// Retry is the pause between attempts of a failed task. Default: 1 s at first, doubling up to 1 min, see [retry.Policy].
	Retry retry.Policy
	// Logger hears of failures (warning, a panic as an error), strays, lost messages and, at level debug, of each claim's end.
	// Default: slog.Default().
	Logger *slog.Logger
	// Hooks are values that implement one or more of the hook interfaces of this package. One that implements none is refused, and one
	// with a method that has the name of a hook's and other parameters. Default: none.
	Hooks []any
}

// New checks the options and returns the handler for sarama's Consume. It starts nothing.
//
// Errors wrap [ErrOptions] and name each faulty field and what to put there: no handler, a nil one inside the interface, no plan, negative
// slots, an invalid retry policy, a hook that implements no hook interface.
func New(h Handler, o Options) (*GroupHandler, error) {
	if err := check(h, o); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &GroupHandler{
		opts: o, pool: newPool(h, o), logger: o.Logger,
		heard:   newOwnership(),
		commits: map[context.Context]*commits{},
	}, nil
}

// check finds all faults.
func check(h Handler, o Options) error {
	fault := func(found bool, format string, args ...any) error {
		if !found {
			return nil
		}
		return fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...)
	}
	retries := o.Retry.Validate()
	return errors.Join(
		fault(isNil(h), "the handler is nil: pass a handler.Func or a value with a Handle method"),
		fault(o.Plan == nil || o.Plan.Input.Expected == 0, "Plan is empty: derive one with config.For(how long a task usually takes)"),
		fault(o.Slots < 0, "Slots is %d: set how many tasks may run at once, or 0 for one a claimed partition", o.Slots),
		fault(o.BacklogBytes < 0, "BacklogBytes is %d: set a number of bytes, or 0 for %d", o.BacklogBytes, defaultMemory),
		o.checkOrder(),
		fault(retries != nil, "Retry: %w", retries),
		checkHooks(o.Hooks),
	)
}

// isNil finds a nil function or pointer inside an interface too: it would panic at the first message.
func isNil(h any) bool {
	if h == nil {
		return true
	}
	switch v := reflect.ValueOf(h); v.Kind() {
	case reflect.Func, reflect.Pointer, reflect.Map, reflect.Chan:
		return v.IsNil()
	default:
		return false
	}
}
