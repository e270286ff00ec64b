package handler

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/hook"
)

// Hooks are one-method interfaces: a value in Options.Hooks implements those it wants. They are called on the goroutine of the
// event, in the order of Options.Hooks; they must not block and must be safe for concurrent use. A task hook costs its call for
// each message. A hook that panics is logged, and the event goes on to the next one.

// TaskStartHook hears each start of a task, on the task's goroutine just before the handler is called.
type TaskStartHook interface {
	OnTaskStart(m *sarama.ConsumerMessage)
}

// TaskEndHook hears each end of a task, once for each start, on the task's goroutine after the handler has returned and its
// result is settled.
type TaskEndHook interface{ OnTaskEnd(e TaskEnd) }

// ClaimStartHook hears that this member takes a partition, before its first task starts.
type ClaimStartHook interface{ OnClaimStart(c Claim) }

// ClaimEndHook hears that this member gives a partition up, after the last commit and before ConsumeClaim returns.
type ClaimEndHook interface{ OnClaimEnd(e ClaimEnd) }

// GapHook hears that a committed offset no longer exists on the partition, so that messages were lost before they were read; also where
// a claim takes over tasks that went on meanwhile, unless their own messages are all that is gone. Package consumer can tell; over a
// plain sarama group it is never called, since sarama does not say what was committed.
type GapHook interface{ OnGap(g Gap) }

// Outcome is how a task ended.
type Outcome int

const (
	// Succeeded: the handler returned nil. The offset is committed once all before it are done.
	Succeeded Outcome = iota
	// Failed: the handler returned an error, panicked or called Goexit. The message is tried again, by this member or by the next
	// owner of the partition.
	Failed
	// Cancelled: the handler did not return nil after its context was cancelled, and has returned in the time that such a task has: 25 ms,
	// or what is left of a grace, and up to a second more at a stop. Nothing is counted against the message.
	Cancelled
	// Stray: the handler returned later, when its partition was given up, or it returned nil although the partition had gone elsewhere.
	// The result is dropped, whatever it is.
	Stray
)

// String returns the outcome in one word.
func (o Outcome) String() string {
	return [...]string{"succeeded", "failed", "cancelled", "stray"}[o]
}

// TaskEnd describes the end of a task.
type TaskEnd struct {
	Message *sarama.ConsumerMessage // that was handled
	Outcome Outcome                 // what became of the result
	Err     error                   // of the handler; a *PanicError after a panic, ErrGoexit after runtime.Goexit
	Attempt int                     // 1 for the first in this claim; a task that was taken over keeps its number
	Elapsed time.Duration           // of the handler call
}

// Claim names a claimed partition. It is comparable.
type Claim struct {
	Topic     string `json:"topic"`     // its name
	Partition int32  `json:"partition"` // its number
}

// ClaimEnd describes a claim that ended.
type ClaimEnd struct {
	Claim
	Reason    Reason        // the most urgent one that came up
	Cause     error         // of the session's end, nil when the session lives on
	Waited    time.Duration // from the sign of revocation to the return
	Succeeded int           // tasks that ended well in the grace
	Cancelled int           // tasks that returned an error when they were cancelled; the next owner runs them again
	Kept      int           // tasks that go on and are taken over when the partition comes back
	Abandoned int           // tasks that still run; their results are dropped
}

// Gap describes messages that were gone before they were read.
type Gap struct {
	Claim
	Committed int64 // offset that the group had committed
	First     int64 // offset of the first message there is
}

// hooks holds the values of Options.Hooks by what they implement.
type hooks struct {
	logger     *slog.Logger
	taskStart  []TaskStartHook
	taskEnd    []TaskEndHook
	claimStart []ClaimStartHook
	claimEnd   []ClaimEndHook
	gap        []GapHook
}

func sortHooks(values []any, logger *slog.Logger) *hooks {
	h := &hooks{logger: logger}
	for _, v := range values {
		h.taskStart = hook.Add(h.taskStart, v)
		h.taskEnd = hook.Add(h.taskEnd, v)
		h.claimStart = hook.Add(h.claimStart, v)
		h.claimEnd = hook.Add(h.claimEnd, v)
		h.gap = hook.Add(h.gap, v)
	}
	return h
}

// hookKinds are the interfaces of which a hook implements one at least.
func hookKinds() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[TaskStartHook](), reflect.TypeFor[TaskEndHook](), reflect.TypeFor[ClaimStartHook](), reflect.TypeFor[ClaimEndHook](),
		reflect.TypeFor[GapHook](),
	}
}

// checkHooks refuses a value that would never be called, or not by each of its methods: a slip of the pen is silent otherwise.
func checkHooks(values []any) error {
	var faults []error
	for i, v := range values {
		if what := hook.Fault(v, hookKinds(), "OnTaskEnd(handler.TaskEnd)"); what != "" {
			faults = append(faults, fmt.Errorf("%w: Hooks[%d] %s", ErrOptions, i, what))
		}
	}
	return errors.Join(faults...)
}

// perTask says whether somebody wants to hear of each task.
func (h *hooks) perTask() bool { return len(h.taskStart)+len(h.taskEnd) > 0 }

func (h *hooks) started(m *sarama.ConsumerMessage) {
	hook.Tell(h.logger, h.taskStart, TaskStartHook.OnTaskStart, m)
}
func (h *hooks) ended(e TaskEnd)     { hook.Tell(h.logger, h.taskEnd, TaskEndHook.OnTaskEnd, e) }
func (h *hooks) claimed(c Claim)     { hook.Tell(h.logger, h.claimStart, ClaimStartHook.OnClaimStart, c) }
func (h *hooks) released(e ClaimEnd) { hook.Tell(h.logger, h.claimEnd, ClaimEndHook.OnClaimEnd, e) }
func (h *hooks) missed(g Gap)        { hook.Tell(h.logger, h.gap, GapHook.OnGap, g) }
