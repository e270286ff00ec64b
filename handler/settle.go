package handler

import "time"

// results is what a loop takes over from its claim.
type results struct {
	progress
	failed  *failure
	watched bool
}

// exchange puts new tasks in and takes results out, in one hold of the lock, then commits, retries, pauses or resumes. It returns
// the time, which it has looked up anyway.
func (l *loop) exchange(slab []Task) time.Duration {
	p := l.pool
	p.mu.Lock()
	l.queue.Push(slab)
	p.startLocked(l.claim)
	got := l.resultsLocked()
	p.mu.Unlock()
	return l.digest(got)
}

// resultsLocked takes the results out of the claim.
func (l *loop) resultsLocked() results {
	got := results{progress: l.ended, failed: l.failed, watched: l.watched}
	l.ended, l.failed = progress{}, nil
	l.backlog, l.bytes = l.backlog-got.n, l.bytes-got.bytes
	l.view.backlog, l.view.bytes = l.backlog, l.bytes
	if got.n > 0 {
		l.view.finished = got.next
	}
	return got
}

// digest does what the results ask for.
func (l *loop) digest(got results) time.Duration {
	now := l.pool.now()
	l.advance(got.progress, now)
	if got.failed != nil {
		l.failedTask(got.failed, now)
	}
	if got.watched && !l.alarm.isSet(atLook) {
		l.alarm.set(atLook, now+look, now)
	}
	l.room.measure(got.n, now)
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
	if !l.open {
		l.tellFailure(f, 0)
		return
	}
	attempt := int(f.task.attempt)
	pause := l.retry.Delay(attempt)
	l.tellFailure(f, pause)
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
	p.startLocked(l.claim)
}
