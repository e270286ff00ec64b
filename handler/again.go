package handler

import (
	"slices"
	"time"
)

// failedTask sets the time of the next attempt. Until then the slot is free and its partition or key is held: nothing is passed over.
func (l *loop) failedTask(f *failure, now time.Duration) {
	if !l.open {
		l.tellFailure(f, 0)
		return
	}
	pause := l.retry.Delay(int(f.task.attempt))
	l.tellFailure(f, pause)
	f.due = now + pause
	at, _ := slices.BinarySearchFunc(l.again, f.due, func(one *failure, due time.Duration) int { return int(one.due - due) })
	l.again = slices.Insert(l.again, at, f)
	l.alarm.set(atRetry, l.again[0].due, now)
}

// tryAgain puts back what is due.
func (l *loop) tryAgain(now time.Duration) {
	n := 0
	p := l.pool
	p.mu.Lock()
	for ; n < len(l.again) && l.again[n].due <= now; n++ {
		l.lineup.again(l.again[n], l.scope)
	}
	l.waiting -= n
	p.readyLocked(l.claim)
	p.mu.Unlock()
	if l.again = slices.Delete(l.again, 0, n); len(l.again) > 0 {
		l.alarm.set(atRetry, l.again[0].due, now)
	}
}
