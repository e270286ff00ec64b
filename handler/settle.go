package handler

import "time"

// results is what a loop takes over from its claim.
type results struct {
	progress
	failed  []*failure
	watched bool
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
	if got.n > 0 {
		l.view.finished = got.next
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
	return now
}

// advance commits what is finished: at once, or not before the plan's interval is over.
func (l *loop) advance(ended progress, now time.Duration) {
	if ended.n > 0 {
		l.finished = l.finish(ended)
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

// finish returns the offset below which all are done.
func (l *loop) finish(ended progress) int64 {
	if l.track == nil {
		return ended.next
	}
	for _, o := range ended.offsets {
		l.track.Finish(o)
	}
	l.spare = ended.offsets[:0]
	return l.track.Next()
}

func (l *loop) commit(offset int64, now time.Duration) {
	l.committed, l.lastCommit = offset, now
	l.committer.Commit(offset)
}
