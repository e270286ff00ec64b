package handler

import (
	"cmp"
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

// tryAgain puts back what is due. An adopted task waits until its message is delivered again, for it may be another one now.
func (l *loop) tryAgain(now time.Duration) {
	due, _ := slices.BinarySearchFunc(l.again, now, func(f *failure, now time.Duration) int { return cmp.Or(cmp.Compare(f.due, now), -1) })
	later := l.again[:0]
	p := l.pool
	p.mu.Lock()
	for _, f := range l.again[:due] {
		if l.account.awaits(f.task.Offset) {
			later = append(later, f)
			continue
		}
		l.lineup.again(f, l.scope)
		l.waiting--
	}
	p.readyLocked(l.claim)
	p.mu.Unlock()
	if due < len(l.again) {
		l.alarm.set(atRetry, l.again[due].due, now)
	}
	l.again = slices.Delete(l.again, len(later), due)
}

// tryAwaited puts back what is due and has waited for its message.
func (l *loop) tryAwaited() {
	if len(l.again) == 0 {
		return
	}
	if now := l.pool.now(); l.again[0].due <= now {
		l.tryAgain(now)
	}
}
