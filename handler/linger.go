package handler

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// A claim whose tasks may go on returns without them, and its loop lingers: it takes what ends and commits it, until the next claim of
// the partition takes the tasks over, the partition goes elsewhere, or the member has to stop all tasks. A claim whose last commit has no
// answer lingers with its account alone: what the broker may not have stored would be run again otherwise.

// beginToLinger hands the running tasks and the account to the lingering loop, and returns how many tasks. ok is false when it need not
// linger, or the partition has gone meanwhile. last bounds the wait for the answer to a commit.
func (l *loop) beginToLinger(last context.Context, may bool) (n int, ok bool) {
	if !may || !l.unsettled(last) {
		return 0, false
	}
	if n, ok = l.handOn(); ok {
		l.lastWord(last, n)
	}
	return n, ok
}

// handOn puts the claim among those that are kept.
func (l *loop) handOn() (n int, ok bool) {
	l.pool.mu.Lock()
	n = l.flight
	l.pool.keepLocked(l.claim) // before anybody may hear that the partition has gone
	l.pool.mu.Unlock()
	a := &l.account
	t := title{memberID: l.group.MemberID(), stamp: a.stamp, plain: a.bare, next: a.committable(), work: l.work}
	if l.heard.linger(l, t) {
		return n, true
	}
	l.pool.mu.Lock()
	l.pool.unkeepLocked(l.claim)
	l.pool.mu.Unlock()
	return 0, false
}

// lastWord commits for the claim: others may have the partition soon, and then find what has finished, and that tasks go on.
func (l *loop) lastWord(last context.Context, tasks int) {
	if l.account.running = tasks > 0; l.account.running {
		l.commit(l.pool.now())
		_ = l.committer.Settled(last)
	}
	l.mute = l.account.bare
	l.aside = nil // it is delivered again
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if !l.left {
		held, bytes := l.carriesLocked()
		l.backlog, l.bytes = held+l.claim.ended.n, bytes+l.claim.ended.bytes // what has ended is taken out when it is taken over
		l.weighLocked()
	}
}

// unsettled says that tasks run, or that a commit has no answer until last ends.
func (l *loop) unsettled(last context.Context) bool {
	if l.flying() {
		return true
	}
	l.settleAll() // what has ended since
	return l.account.begun && l.committer.Settled(last) != nil
}

// linger is the loop's goroutine after ConsumeClaim has returned. It ends when the next claim recalls it, or with the ownership.
func (l *loop) linger() {
	defer close(l.lingered)
	why := l.untilTheEnd()
	last, cancel := answerLimit(why)
	defer cancel()
	l.unanswered = l.committer.Settled(last) != nil
	if why == Stopping {
		l.seeOff() // the stop waits for the release, and is told first what hangs
	}
	l.committer.Release(last)
	if why != Stopping {
		l.seeOff() // others may have the partition: nothing more is sent for it
	}
}

// untilTheEnd returns why: Lost wherever somebody else may have the partition, or takes the account over.
func (l *loop) untilTheEnd() Reason {
	defer context.AfterFunc(l.work, l.workEnded)()
	limit := l.lingerLimit()
	for {
		select {
		case <-l.recalled:
			return Lost
		case <-l.gone:
			return Lost
		case <-l.work.Done():
			return l.workIsOver()
		case <-limit:
			l.abandon(ErrLost)
			return Lost
		case <-l.wake:
			l.settleLingering()
		}
	}
}

// workIsOver gives the tasks up. At a stop the membership is sound: their contexts have ended, and what returns in the time that tasks of
// a claim have for it is committed.
func (l *loop) workIsOver() Reason {
	if !errors.Is(context.Cause(l.work), ErrDraining) {
		l.abandon(l.cause(Lost))
		return Lost
	}
	limit := Stopping.windDown(l.plan)
	if l.plan.StopCancelFirst {
		limit = max(limit, l.plan.StopGrace)
	}
	l.awaitReturn(limit, hurry(l.group), l.settleAll)
	l.settleAll() // what has ended since, or before
	l.abandon(ErrDraining)
	return Stopping
}

// lingerLimit bounds the time without a claim over a plain sarama session: nobody watches over the membership there. A member that has
// not joined again by then may have been expelled.
func (l *loop) lingerLimit() <-chan time.Time {
	if _, own := l.group.(member.Session); own {
		return nil
	}
	return time.After(l.plan.Lease)
}

// settleLingering commits what has ended with the generation of the claim: the broker decides. Over a plain sarama session there is no
// such commit, and the next claim makes it.
func (l *loop) settleLingering() {
	l.rest()
	if now := l.exchange(); l.account.dirty && !l.mute {
		l.commit(now)
	}
}

// rest notes that no task goes on any more, so that the next owner has nobody to wait for. What was given up may run for a moment yet.
func (l *loop) rest() {
	l.pool.mu.Lock()
	rests := l.flight == 0 && !l.left
	l.pool.mu.Unlock()
	if rests && l.account.running {
		l.account.running, l.account.dirty = false, true
	}
}

// moved hears that the partition has gone elsewhere. When it has returned, no claim can take the tasks over any more. It does not block.
func (l *loop) moved() {
	l.giveUpTasks(ErrRevoked)
	close(l.gone)
}

// abandon gives the tasks up: whoever owns the partition now runs them again. What still returns is dropped.
func (l *loop) abandon(cause error) {
	l.giveUpTasks(cause)
	l.heard.forget(l)
}

// seeOff tells what became of tasks that were given up, once they have had a moment to return.
func (l *loop) seeOff() {
	if !l.givenUp() {
		return
	}
	l.awaitReturn(shortWindDown, nil, func() {}) // results count for nothing
	first, left := l.pool.parted(l.claim)
	if !first {
		return
	}
	level, text := slog.LevelInfo, "the partition has not come back: its running tasks were cancelled, and the next owner runs them again"
	if left > 0 {
		level, text = slog.LevelWarn, "a task of a partition that has not come back did not return when its context was cancelled: its result will be dropped"
	}
	l.logger.LogAttrs(context.Background(), level, text)
}

func (l *loop) giveUpTasks(cause error) {
	l.pool.mu.Lock()
	if l.claim.kept {
		l.pool.leaveLocked(l.claim)
	}
	l.pool.mu.Unlock()
	l.pool.tellRoom()
	l.cancelTasks(cause)
}

// givenUp says that the tasks are no longer there to be taken over.
func (l *loop) givenUp() bool {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.left
}

// adoptScopeLocked makes the contexts of an adopted task end with those of the claim.
func (c *claim) adoptScopeLocked(t *Task) {
	if s := t.call.Scope(); !slices.Contains(c.scopes, s) {
		c.scopes = append(c.scopes, s)
	}
}

// cancelTasks ends the contexts of all tasks of the claim, adopted ones too.
func (c *claim) cancelTasks(cause error) {
	c.scope.Cancel(cause)
	c.pool.mu.Lock()
	adopted := c.scopes
	c.pool.mu.Unlock()
	for _, s := range adopted {
		s.Cancel(cause)
	}
}
