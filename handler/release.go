package handler

import (
	"context"
	"log/slog"
	"time"
)

const (
	// shortWindDown and stopWindDown: see [Reason.windDown].
	shortWindDown = 25 * time.Millisecond
	stopWindDown  = time.Second
	// lastAnswer is how long the last commit of a claim may take. With shortWindDown it stays below the second that a claim may
	// last beyond its grace in a rebalance, with stopWindDown below two seconds at a stop.
	lastAnswer = 700 * time.Millisecond
)

// letGo is the way out of every claim: results first, then nothing starts any more, then the grace, then the last commit.
func (l *loop) letGo() {
	began := l.pool.now()
	before := l.succeeded
	l.open = false
	l.close()
	reason, may := l.drain()
	last, cancel := answerLimit(reason)
	defer cancel()
	end := ClaimEnd{Claim: l.key, Reason: reason, Cause: context.Cause(l.session)}
	kept, lingers := l.beginToLinger(last, may)
	if end.Kept = kept; !lingers {
		defer l.heard.forget(l)
		end.Cancelled, end.Abandoned = l.part(reason)
		l.committer.Release(last)
	}
	if l.eviction != nil {
		l.rejoin()
	}
	end.Waited, end.Succeeded = l.pool.now()-began, l.succeeded-before
	l.tellEnd(end)
	l.pool.tellRoom()
	if lingers {
		go l.linger() // ends when the next claim takes over, or with the ownership
	}
}

// close stops all starts and commits what is finished, before any waiting.
func (l *loop) close() {
	l.pool.mu.Lock()
	l.pool.closeLocked(l.claim)
	l.pool.mu.Unlock()
	l.settleAll()
}

// settleAll takes results over and commits them without regard to the plan's interval.
func (l *loop) settleAll() {
	l.rest()
	l.commitAll(l.exchange())
}

func (l *loop) commitAll(now time.Duration) {
	if l.account.dirty {
		l.commit(now)
	}
}

// drain waits for the running task as long as the reason allows, cancels it and waits a moment more. A more urgent reason that
// comes up meanwhile shortens the wait.
func (l *loop) drain() (r Reason, mayLinger bool) {
	w := l.newWait()
	defer w.timer.Stop()
	for l.flying() {
		if w.over {
			return w.end(l)
		}
		select {
		case <-l.wake:
			l.settleAll()
		case <-w.timer.C:
			return w.end(l)
		case <-w.session:
			w.session = nil
			w.escalate(l)
		case <-w.work:
			w.work = nil
			w.escalate(l)
		case <-w.intake:
			w.intake = nil
			w.escalate(l)
		}
	}
	return w.reason, w.keep
}

// giveUp cancels what still runs.
func (l *loop) giveUp(r Reason) {
	l.cancelTasks(l.cause(r))
	l.awaitReturn(r.windDown(l.plan), nil, l.settleAll)
}

// awaitReturn waits for the tasks to return, and does something with each that has. Where others wait for the member, which hurry says,
// it is no longer than the grace from then on.
func (l *loop) awaitReturn(limit time.Duration, hurry <-chan struct{}, do func()) {
	t := time.NewTimer(limit)
	defer t.Stop()
	until := time.Now().Add(limit)
	for l.flying() {
		select {
		case <-l.wake:
			do()
		case <-hurry:
			hurry = nil
			t.Reset(min(l.plan.Grace, time.Until(until)))
		case <-t.C:
			return
		}
	}
}

func (l *loop) flying() bool {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.flight > 0
}

// part takes the last results over. What ends from here on is a stray: in one hold of the lock, so that no success is counted that
// nobody commits.
func (l *loop) part(r Reason) (cancelled, abandoned int) {
	l.cancelTasks(l.cause(r))
	p := l.pool
	p.mu.Lock()
	got := l.resultsLocked()
	cancelled, abandoned = l.cancelled, p.leaveLocked(l.claim)
	p.mu.Unlock()
	l.commitAll(l.digest(got))
	return cancelled, abandoned
}

// answerLimit bounds the wait for the answer to the last commit. The broker has none for a member that is no longer one.
func answerLimit(r Reason) (ctx context.Context, cancel context.CancelFunc) {
	limit := lastAnswer
	if r == Lost {
		limit = 0
	}
	return context.WithTimeout(context.Background(), limit)
}

// tellEnd tells that the claim has ended, and lets a paused source go on.
func (l *loop) tellEnd(e ClaimEnd) {
	if l.room.paused {
		l.pause(false)
	}
	level, text := e.entry()
	l.logger.LogAttrs(context.Background(), level, text, attrReason(e.Reason), attrCause(e.Cause), slog.Duration("waited", e.Waited))
	l.pool.hooks.released(e)
}

// entry is what the log says: work that will be done again is worth a line.
func (e ClaimEnd) entry() (level slog.Level, text string) {
	switch {
	case e.Abandoned > 0:
		return slog.LevelWarn, "claim ended with a task that did not return when its context was cancelled: its result will be dropped"
	case e.Kept > 0:
		return slog.LevelDebug, "claim ended, and its tasks go on"
	case e.Cancelled > 0:
		return slog.LevelInfo, "claim ended with a cancelled task: the next owner of the partition runs it again"
	default:
		return slog.LevelDebug, "claim ended"
	}
}
