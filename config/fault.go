package config

import (
	"errors"
	"fmt"
)

var (
	// ErrInput is what every error about an [Input] unwraps to: the plan cannot be derived from it.
	ErrInput = errors.New("config input")
	// ErrBase is what every error about a base *sarama.Config unwraps to: the plan cannot be applied to it.
	ErrBase = errors.New("sarama config")
)

// Fault is one value that cannot work, or that works worse than it could. [Check] returns them, [FaultError] carries one.
type Fault struct {
	// Field names the value: a field of [Input], or the path of a field in sarama.Config, such as "Consumer.Group.Session.Timeout".
	Field string
	// Value is what stands there now.
	Value string
	// Why says what goes wrong with it.
	Why string
	// Use is what to put there instead.
	Use string
}

// String says it in one line: field, value, why, and what to use instead.
func (f Fault) String() string {
	return fmt.Sprintf("%s is %s: %s; use %s", f.Field, f.Value, f.Why, f.Use)
}

// FaultError is the error for a fault that leaves no way on. Find it with errors.As; it unwraps to its Kind.
type FaultError struct {
	Fault
	// Kind is [ErrInput] or [ErrBase].
	Kind error
}

// Error names field, value, reason and remedy.
func (e *FaultError) Error() string { return fmt.Sprintf("%v: %v", e.Kind, e.Fault) }

// Unwrap returns Kind.
func (e *FaultError) Unwrap() error { return e.Kind }

func inputFault(field, value, why, use string) error {
	return &FaultError{Fault: Fault{Field: field, Value: value, Why: why, Use: use}, Kind: ErrInput}
}

func baseFault(field, value, why, use string) error {
	return &FaultError{Fault: Fault{Field: field, Value: value, Why: why, Use: use}, Kind: ErrBase}
}
