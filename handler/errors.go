package handler

import (
	"errors"
	"fmt"

	pkgerrors "github.com/pkg/errors"
)

// Causes of a cancelled task context, for errors.Is on context.Cause. A handler that returns because of one of them has not failed: no
// attempt is counted, and the message goes to the next owner of its partition.
var (
	// ErrRevoked says that the partition was revoked by a rebalance: the grace is over, or the task is too long for any and has the
	// grace to wind down.
	ErrRevoked = errors.New("the partition was revoked")
	// ErrDraining says that the member stops: the grace of the stop is over, or the task is too long for it and has it to wind down.
	ErrDraining = errors.New("the member is stopping")
	// ErrLost says that the member can no longer be sure of its membership, or knows that it has lost it: another member may
	// own the partition already. The cause also wraps what happened, such as sarama.ErrUnknownMemberId.
	ErrLost = errors.New("the membership was lost")
)

// ErrGoexit is the error of a task whose handler called runtime.Goexit, as FailNow of a testing.T does.
var ErrGoexit = errors.New("the handler called runtime.Goexit")

// ErrOptions is wrapped by every error of [New] about its arguments.
var ErrOptions = errors.New("invalid handler options")

// PanicError is the error of a task whose handler panicked. Format it with %+v to get the stack of the panic, innermost 32 frames.
type PanicError struct {
	// Value is what the handler panicked with.
	Value any
	stack error
}

// newPanicError is called in the deferred function that recovered, where the panic's frames are still on the stack.
func newPanicError(v any) *PanicError {
	return &PanicError{Value: v, stack: pkgerrors.Errorf("panic: %v", v)}
}

// Error implements error: "panic: " and the value.
func (e *PanicError) Error() string { return e.stack.Error() }

// Unwrap returns the panic's value when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Format prints the stack for %+v.
func (e *PanicError) Format(s fmt.State, verb rune) {
	if f, ok := e.stack.(fmt.Formatter); ok {
		f.Format(s, verb)
	}
}

// StackTrace returns where the panic happened, for those who read the stacks of pkg/errors.
func (e *PanicError) StackTrace() pkgerrors.StackTrace {
	var t interface{ StackTrace() pkgerrors.StackTrace }
	if errors.As(e.stack, &t) {
		return t.StackTrace()
	}
	return nil
}
