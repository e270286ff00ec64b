package handler

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/IBM/sarama"
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

// GapHook hears that a committed offset no longer exists on the partition, so that messages were lost before they were read.
// Package consumer can tell; over a plain sarama group it is never called, since sarama does not say what was committed.
type GapHook interface{ OnGap(g Gap) }

// Outcome is how a task ended.
type Outcome int

const (
	// Succeeded: the handler returned nil. The offset is committed once all before it are done.
	Succeeded Outcome = iota
	// Failed: the handler returned an error, panicked or called Goexit. The message is tried again, by this member or by the next
	// owner of the partition.
	Failed
	// Cancelled: the handler did not return nil after its context was cancelled. Nothing is counted against the message.
	Cancelled
	// Stray: the handler returned after its partition was given up. The result is dropped, whatever it is.
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
	Attempt int                     // 1 for the first in this claim
	Elapsed time.Duration           // of the handler call
}

// Claim names a claimed partition. It is comparable.
type Claim struct {
	Topic     string // name of the topic
	Partition int32  // number of the partition
}

// ClaimEnd describes a claim that ended.
type ClaimEnd struct {
	Claim
	Reason    Reason        // the most urgent one that came up
	Cause     error         // of the session's end, nil when the session lives on
	Waited    time.Duration // from the sign of revocation to the return
	Succeeded int           // tasks that ended well in the grace
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
		h.taskStart = addHook(h.taskStart, v)
		h.taskEnd = addHook(h.taskEnd, v)
		h.claimStart = addHook(h.claimStart, v)
		h.claimEnd = addHook(h.claimEnd, v)
		h.gap = addHook(h.gap, v)
	}
	return h
}

func addHook[H any](list []H, v any) []H {
	if h, ok := v.(H); ok {
		return append(list, h)
	}
	return list
}

// perTask says whether somebody wants to hear of each task.
func (h *hooks) perTask() bool { return len(h.taskStart)+len(h.taskEnd) > 0 }

func (h *hooks) started(m *sarama.ConsumerMessage) {
	tell(h, h.taskStart, TaskStartHook.OnTaskStart, m)
}
func (h *hooks) ended(e TaskEnd)     { tell(h, h.taskEnd, TaskEndHook.OnTaskEnd, e) }
func (h *hooks) claimed(c Claim)     { tell(h, h.claimStart, ClaimStartHook.OnClaimStart, c) }
func (h *hooks) released(e ClaimEnd) { tell(h, h.claimEnd, ClaimEndHook.OnClaimEnd, e) }
func (h *hooks) missed(g Gap)        { tell(h, h.gap, GapHook.OnGap, g) }

// tell calls each hook. It has no closure, so that an event costs no allocation.
func tell[H, E any](h *hooks, list []H, call func(H, E), event E) {
	for _, hook := range list {
		tellOne(h, hook, call, event)
	}
}

// tellOne keeps a panic of the hook from the goroutine that it is called on: sarama's would take the process down.
func tellOne[H, E any](h *hooks, hook H, call func(H, E), event E) {
	defer func() {
		if v := recover(); v != nil {
			h.logger.LogAttrs(context.Background(), slog.LevelError, "a hook panicked",
				slog.String("hook", fmt.Sprintf("%T", hook)), attrStack(newPanicError(v)))
		}
	}()
	call(hook, event)
}
