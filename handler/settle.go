package handler

import "time"

// results is what a loop takes over from its claim.
type results struct {
	progress
	failed  []*failure
	watched bool
	room    bool          // the member holds less than it may again
	yields  bool          // the leader has to hear of the partition: it is to be handed over, and idle
	evicted bool          // the tasks are to be cancelled
	tellAt  time.Duration // when the leader has to hear of it otherwise, 0 for never
}

// exchange puts the prepared tasks in and takes results out, in one hold of the lock, then commits, retries, pauses or resumes. It returns
// the time, which it has looked up anyway.
func (l *loop) exchange() time.Duration {
	p := l.pool
	p.mu.Lock()
	l.lineup.push()
	p.readyLocked(l.claim)
	got := l.resultsLocked()
	p.mu.Unlock()
	return l.digest(got)
}

// resultsLocked takes the results out of the claim.
func (l *loop) resultsLocked() results {
	got := results{progress: l.ended, failed: l.failed, watched: l.watched}
	l.ended, l.failed = progress{offsets: l.spare}, nil
	l.spare = nil
	l.waiting += len(got.failed)
	l.backlog, l.bytes = l.backlog-got.n, l.bytes-got.bytes
	l.weighLocked()
	got.room = l.pool.roomAgainLocked()
	got.yields, got.evicted, got.tellAt = l.yieldsLocked() || l.back, l.evictedLocked(), l.tellAtLocked(l.plan.HoldLimit)
	l.back = false
	if got.n > 0 {
		l.unstored.Store(true)
	}
	return got
}

// digest does what the results ask for.
func (l *loop) digest(got results) time.Duration {
	now := l.pool.now()
	l.advance(got.progress, now)
	for _, f := range got.failed {
		l.failedTask(f, now)
	}
	if got.watched && !l.alarm.isSet(atLook) {
		l.alarm.set(atLook, now+look, now)
	}
	l.room.measure(got.n, now)
	l.makeRoom()
	if got.room {
		l.pool.tellPaused()
	}
	l.letLeaderHave(got, now)
	return now
}

// letLeaderHave does what the leader of the group has asked for.
func (l *loop) letLeaderHave(got results, now time.Duration) {
	l.watchHold(got.tellAt, now)
	if got.yields {
		l.yield(now)
	}
	if got.evicted && l.eviction == nil {
		l.eviction, l.open = errOverHold, false
	}
}

// advance commits what is finished: at once, or not before the plan's interval is over.
func (l *loop) advance(ended progress, now time.Duration) {
	l.account.finish(ended)
	l.finished.Store(l.account.committable())
	l.succeeded += ended.n
	if cap(ended.offsets) > 0 {
		l.spare = ended.offsets[:0]
	}
	switch due := l.lastCommit + l.plan.CommitInterval; {
	case !l.account.dirty:
		l.unstored.Store(false)
	case l.mute: // the next claim commits it, if it is this member's
	case now >= due:
		l.commit(now)
	case !l.alarm.isSet(atCommit):
		l.alarm.set(atCommit, due, now)
	}
}

func (l *loop) commit(now time.Duration) {
	if l.mute {
		return
	}
	l.account.dirty, l.lastCommit = false, now
	l.committer.Commit(l.account.position())
	l.unstored.Store(false) // from here on the committer knows
}
