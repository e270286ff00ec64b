package handler

import (
	"time"

	"github.com/IBM/sarama"
)

// Hooks are one-method interfaces: a value in Options.Hooks implements those it wants. They are called on the goroutine of the
// event, must not block and must be safe for concurrent use. A task hook costs its call for each message.

// TaskStartHook hears each start of a task.
type TaskStartHook interface {
	OnTaskStart(m *sarama.ConsumerMessage)
}

// TaskEndHook hears each end of a task.
type TaskEndHook interface{ OnTaskEnd(e TaskEnd) }

// ClaimStartHook hears that this member takes a partition.
type ClaimStartHook interface{ OnClaimStart(c Claim) }

// ClaimEndHook hears that this member gives a partition up.
type ClaimEndHook interface{ OnClaimEnd(e ClaimEnd) }

// GapHook hears that a committed offset no longer exists on the partition.
type GapHook interface{ OnGap(g Gap) }

// Outcome is how a task ended.
type Outcome int

const (
	// Succeeded: the handler returned nil. The offset is committed once all before it are done.
	Succeeded Outcome = iota
	// Failed: the handler returned an error, panicked or called Goexit. The task is tried again.
	Failed
	// Cancelled: the handler returned an error after its context was cancelled. Nothing is counted against the message.
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
	Message *sarama.ConsumerMessage
	Outcome Outcome
	Err     error         // of the handler; a *PanicError after a panic, ErrGoexit after runtime.Goexit
	Attempt int           // 1 for the first in this claim
	Elapsed time.Duration // of the handler call
}

// Claim names a claimed partition.
type Claim struct {
	Topic     string
	Partition int32
}

// ClaimEnd describes a claim that ended.
type ClaimEnd struct {
	Claim
	Reason    Reason
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
	taskStart  []TaskStartHook
	taskEnd    []TaskEndHook
	claimStart []ClaimStartHook
	claimEnd   []ClaimEndHook
	gap        []GapHook
}

func sortHooks(values []any) *hooks {
	h := &hooks{}
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
	for _, k := range h.taskStart {
		k.OnTaskStart(m)
	}
}

func (h *hooks) ended(e TaskEnd) {
	for _, k := range h.taskEnd {
		k.OnTaskEnd(e)
	}
}

func (h *hooks) claimed(c Claim) {
	for _, k := range h.claimStart {
		k.OnClaimStart(c)
	}
}

func (h *hooks) released(e ClaimEnd) {
	for _, k := range h.claimEnd {
		k.OnClaimEnd(e)
	}
}

func (h *hooks) missed(g Gap) {
	for _, k := range h.gap {
		k.OnGap(g)
	}
}
