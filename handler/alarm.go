package handler

import "time"

// The things a claim loop waits for by time.
const (
	atRest   = iota // ends of tasks are listened to again
	atLook          // runs that last are cut
	atCommit        // a commit is due
	atRetry         // the failed task starts again
	atYield         // an idle partition is handed over
	atHold          // a task on a partition that is to be handed over is past the hold limit
	alarms
)

// alarm is one timer for all that a claim loop waits for. It is armed only while something is due, and belongs to the loop.
type alarm struct {
	timer *time.Timer
	due   [alarms]time.Duration // since the pool began; 0 is off
	armed time.Duration         // what the timer is set to
}

func newAlarm() *alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &alarm{timer: t}
}

func (a *alarm) stop() { a.timer.Stop() }

func (a *alarm) isSet(what int) bool { return a.due[what] != 0 }

// set makes what due at a time; now saves a look at the clock.
func (a *alarm) set(what int, at, now time.Duration) {
	a.due[what] = max(at, 1)
	if a.armed == 0 || at < a.armed {
		a.arm(at, now)
	}
}

func (a *alarm) arm(at, now time.Duration) {
	a.armed = max(at, 1)
	a.timer.Reset(at - now)
}

// ring returns what is due by now, switches it off and arms the timer for the rest.
func (a *alarm) ring(now time.Duration) (due [alarms]bool) {
	a.armed = 0
	next := time.Duration(0)
	for what, at := range a.due {
		switch {
		case at == 0:
		case at <= now:
			due[what], a.due[what] = true, 0
		case next == 0 || at < next:
			next = at
		}
	}
	if next != 0 {
		a.arm(next, now)
	}
	return due
}
