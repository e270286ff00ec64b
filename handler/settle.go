package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// exchange puts new tasks in and takes results out, in one hold of the lock, then commits, retries, pauses or resumes. It returns
// the time, which it has looked up anyway.
func (l *loop) exchange(slab []Task) time.Duration {
	p := l.pool
	p.mu.Lock()
	l.queue.Push(slab)
	p.readyLocked(l.claim, false)
	p.kickLocked()
	ended, failed, watched := l.ended, l.failed, l.watched
	l.ended, l.failed = progress{}, nil
	l.backlog, l.bytes = l.backlog-ended.n, l.bytes-ended.bytes
	l.view.backlog, l.view.bytes = l.backlog, l.bytes
	if ended.n > 0 {
		l.view.finished = ended.next
	}
	p.mu.Unlock()
	now := p.now()
	l.advance(ended, now)
	if failed != nil {
		l.failedTask(failed, now)
	}
	if watched && !l.alarm.isSet(atLook) {
		l.alarm.set(atLook, now+look, now)
	}
	l.room.measure(ended.n, now)
	l.makeRoom()
	return now
}

// advance commits what is finished: at once, or not before the plan's interval is over.
func (l *loop) advance(ended progress, now time.Duration) {
	if ended.n > 0 {
		l.finished = ended.next
		l.succeeded += ended.n
	}
	switch due := l.lastCommit + l.plan.CommitInterval; {
	case l.finished <= l.committed:
	case now >= due:
		l.commit(l.finished, now)
	case !l.alarm.isSet(atCommit):
		l.alarm.set(atCommit, due, now)
	}
}

func (l *loop) commit(offset int64, now time.Duration) {
	l.committed, l.lastCommit = offset, now
	l.committer.Commit(offset)
}

// failedTask sets the time of the next attempt. Until then the slot is free and the partition is held: nothing is passed over.
func (l *loop) failedTask(f *failure, now time.Duration) {
	attempt := int(f.task.attempt)
	pause := l.retry.Delay(attempt)
	l.logFailure(f, attempt, pause)
	l.again = make([]Task, 1)
	l.again[0].prepare(f.task.ConsumerMessage, int32(min(attempt+1, 1<<30)), l.scope) //nolint:gosec // bounded
	l.alarm.set(atRetry, now+pause, now)
}

func (l *loop) tryAgain() {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	l.queue.PutBack(l.again)
	l.again, l.held = nil, false
	p.readyLocked(l.claim, false)
	p.kickLocked()
}

// logFailure writes one entry an attempt, with the stack after a panic.
func (l *loop) logFailure(f *failure, attempt int, pause time.Duration) {
	attrs := []slog.Attr{attrOffset(f.task.Offset), slog.Int("attempt", attempt), slog.Duration("retry_in", pause), slog.Any("error", f.err)}
	var p *PanicError
	if errors.As(f.err, &p) {
		attrs = append(attrs, slog.String("stack", fmt.Sprintf("%+v", p.StackTrace())))
		l.logger.LogAttrs(context.Background(), slog.LevelError, "task panicked: it is tried again", attrs...)
		return
	}
	l.logger.LogAttrs(context.Background(), slog.LevelWarn, "task failed: it is tried again", attrs...)
}
