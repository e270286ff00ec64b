package handler

import "time"

// wait is the state of a drain: what it waits for beside its tasks.
type wait struct {
	reason  Reason
	keep    bool // tasks that still run then go on
	timer   *time.Timer
	until   time.Time       // when the timer rings; zero for never
	over    bool            // there is no grace
	session <-chan struct{} // ends with the session; at a stop, when others wait for this member
	work    <-chan struct{}
	intake  <-chan struct{} // open only after a stream that ended by itself
}

func (l *loop) newWait() *wait {
	w := &wait{reason: -1, timer: time.NewTimer(time.Hour), session: l.session.Done(), work: l.work.Done(), intake: l.intake.Done()}
	w.timer.Stop()
	w.escalate(l)
	return w
}

// escalate looks at the signs again: the most urgent reason that came up is the one that counts, and the shortest of their graces. A
// stop, say, may come in the middle of a rebalance, and its grace be shorter; the end of the wait never moves back.
func (w *wait) escalate(l *loop) {
	r := l.reason()
	w.reason = max(w.reason, r)
	w.keep = l.heard.mayLinger(l, w.reason) && !stopping(l.group) && l.eviction == nil
	if r == Stopping {
		w.session = hurry(l.group)
	}
	if (r.cancelsFirst(l.plan) || l.eviction != nil) && !w.keep {
		l.cancelTasks(l.cause(r))
	}
	grace, limited := l.graceOf(r)
	if w.keep && (l.plan.CancelFirst || r == StreamEnded || l.leftAlone()) { // what cannot end in time need not be waited for either
		grace, limited = 0, true
	}
	if until := time.Now().Add(grace); limited && (w.until.IsZero() || until.Before(w.until)) {
		w.until = until
		if w.over = grace <= 0; !w.over {
			w.timer.Reset(grace)
		}
	}
}

// end is the end of the grace. Tasks that may not go on are cancelled, and have a moment to return.
func (w *wait) end(l *loop) (r Reason, mayLinger bool) {
	if !w.keep {
		l.giveUp(w.reason)
	}
	return w.reason, w.keep
}
