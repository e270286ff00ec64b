// Package task holds what belongs to one handler call: a context that costs nothing until somebody asks for it.
//
// A context.WithCancelCause for each call costs a quarter of the throughput of short tasks. A [Call] is a context by itself,
// embedded in the task it belongs to, and makes the real one when Done is asked for or when it is cancelled.
package task

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrEnded is the cause of a call's context once its handler has returned.
var ErrEnded = errors.New("the task has ended")

// Scope is the parent of the calls of one claim. Ending it ends them all.
type Scope struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// NewScope returns a scope with the values of ctx; it ends by [Scope.Cancel] only, not with ctx.
func NewScope(ctx context.Context) *Scope {
	s := &Scope{}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return s
}

// Cancel ends the contexts of all calls with cause. The first cause stays.
func (s *Scope) Cancel(cause error) { s.cancel(cause) }

// Cause returns why the scope was cancelled, nil as long as it was not.
func (s *Scope) Cause() error { return context.Cause(s.ctx) }

// Call is the context of one handler call. The zero value is not usable: see [Call.Begin]. Safe for concurrent use.
type Call struct {
	scope *Scope
	inner atomic.Pointer[inner] // nil until somebody needs a channel; ended after the return
}

// inner is a real context below the scope's.
type inner struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

var ended = endedContext() //nolint:gochecknoglobals // it never changes: the context of all calls that have ended untouched

func endedContext() *inner {
	in := newInner(context.Background())
	in.cancel(ErrEnded)
	return in
}

func newInner(parent context.Context) *inner {
	in := &inner{}
	in.ctx, in.cancel = context.WithCancelCause(parent)
	return in
}

var _ context.Context = (*Call)(nil)

// Begin makes the call ready below s. It is called once, before the call is shared.
func (c *Call) Begin(s *Scope) { c.scope = s }

// End ends the context after the handler has returned, so that what the handler left behind stops.
func (c *Call) End() {
	if c.inner.CompareAndSwap(nil, ended) {
		return
	}
	c.inner.Load().cancel(ErrEnded)
}

// Cancel ends the context of this call alone with cause.
func (c *Call) Cancel(cause error) { c.real().cancel(cause) }

// Scope is the parent of the call.
func (c *Call) Scope() *Scope { return c.scope }

// Cancelled says that the call's scope has been cancelled.
func (c *Call) Cancelled() bool { return c.scope.Cause() != nil }

// Deadline implements context.Context: a call has none of its own.
func (c *Call) Deadline() (time.Time, bool) { return c.scope.ctx.Deadline() }

// Done implements context.Context. The first use makes the real context.
func (c *Call) Done() <-chan struct{} { return c.real().ctx.Done() }

// Err implements context.Context.
func (c *Call) Err() error {
	if in := c.inner.Load(); in != nil {
		return in.ctx.Err()
	}
	return c.scope.ctx.Err()
}

// Value implements context.Context. It answers context's own search for a parent to hang on, so that deriving a context
// from a call starts no goroutine and context.Cause works.
func (c *Call) Value(key any) any {
	in := c.inner.Load()
	if in == nil {
		return c.scope.ctx.Value(key)
	}
	if v := in.ctx.Value(key); v != nil || in != ended {
		return v
	}
	return c.scope.ctx.Value(key)
}

// real returns the real context and makes it where there is none yet. Two that ask at once agree on one by the swap.
func (c *Call) real() *inner {
	if in := c.inner.Load(); in != nil {
		return in
	}
	in := newInner(c.scope.ctx)
	if c.inner.CompareAndSwap(nil, in) {
		return in
	}
	in.cancel(nil)
	return c.inner.Load()
}
