package handler

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// failure is a task whose handler failed, for the loop to decide on.
type failure struct {
	task *Task
	item *item // where it has a place in a lane
	err  error
	due  time.Duration // when it is tried again
}

// late is a task that returned after its claim had ended.
type late struct {
	task    *Task
	err     error
	elapsed time.Duration
}

// tellFailure writes one entry an attempt, with the stack after a panic. Without a pause the claim is about to end.
func (l *loop) tellFailure(f *failure, pause time.Duration) {
	again := "it is tried again"
	if !l.open {
		again = "the next owner of the partition tries it again"
	}
	attrs := append([]slog.Attr{attrOffset(f.task.Offset), attrAttempt(int(f.task.attempt))}, attrsOf(f.err)...)
	if pause > 0 {
		attrs = append(attrs, slog.Duration("retry_in", pause))
	}
	l.logger.LogAttrs(context.Background(), levelOf(f.err, slog.LevelWarn), "task failed: "+again, attrs...)
}

// tellsLocked says that the return of a stray is told by itself. What returns at once when the partition has not come back is told by its
// loop, after what has led to it; a panic is told in any case.
func (c *claim) tellsLocked(r *runner) bool {
	_, panicked := r.err.(*PanicError) //nolint:errorlint // made by the runner, not wrapped
	return !c.parting || panicked
}

// tellLate says what became of a task that was given up; s is nil when there is none.
func (c *claim) tellLate(s *late) {
	if s == nil {
		return
	}
	attrs := append([]slog.Attr{attrOffset(s.task.Offset), slog.Duration("elapsed", s.elapsed)}, attrsOf(s.err)...)
	c.logger.LogAttrs(context.Background(), levelOf(s.err, slog.LevelInfo),
		"a task that was given up has returned: its result is dropped", attrs...)
}

// levelOf is the level of an error's entry: a panic is an error of the program, whatever becomes of the task.
func levelOf(err error, other slog.Level) slog.Level {
	if _, ok := errors.AsType[*PanicError](err); ok {
		return slog.LevelError
	}
	return other
}

func attrsOf(err error) []slog.Attr {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*PanicError](err); ok {
		return []slog.Attr{slog.String("error", err.Error()), attrStack(p)} // slog's text handler would add the stack to the error too
	}
	return []slog.Attr{attrError(err)}
}
