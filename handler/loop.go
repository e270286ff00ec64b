package handler

import (
	"context"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler/retry"
	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

const (
	// rest is how long ends of tasks are left alone after a settlement: they come in bunches.
	rest = 5 * time.Millisecond
	// look is how often a claim with runs of more than one task is looked at, and lasting is how old such a run may get.
	look    = 20 * time.Millisecond
	lasting = 10 * time.Millisecond
)

// loop owns a claim: it is the one goroutine that receives its messages, settles its tasks and commits. All fields are its own.
type loop struct {
	*claim
	group     sarama.ConsumerGroupSession
	session   context.Context // of group
	work      context.Context // ends when the member has to stop all tasks at once
	heard     *ownership
	messages  <-chan *sarama.ConsumerMessage
	logEnd    int64 // when sarama chose where the claim starts, see newLoop
	committer member.Committer
	plan      *config.Plan
	retry     retry.Policy

	predecessor *loop              // the claim before, whose tasks go on
	mute        bool               // commits would come too late: a plain session has ended, or the partition is somebody else's
	doubted     chan struct{}      // 1: a generation was missed while the claim is held
	interrupt   context.CancelFunc // ends what waits for an answer that says nothing after a doubt; under the pool's lock
	dispossess  error              // somebody else has had the partition then
	eviction    error              // why the claim gives its tasks up although the partition is ours
	recalled    chan struct{}      // closed by the next claim, which takes over
	gone        chan struct{}      // closed when the partition has gone elsewhere
	lingered    chan struct{}      // closed when the loop does not linger any more
	unanswered  bool               // its last commit had no answer by then

	alarm   *alarm
	watches time.Duration // what atHold was last set for
	resting bool          // ends of tasks are left alone for a moment
	open    bool          // no sign of revocation yet
	first   bool          // no message received yet
	batch   [schedule.MaxRun]*sarama.ConsumerMessage
	backlog int
	bytes   int64
	room    room

	account    account
	aside      []*sarama.ConsumerMessage // received, and not delivered yet, see setAside
	lastCommit time.Duration
	succeeded  int        // tasks that ended well in this claim
	again      []*failure // failed tasks, by the time of their next attempt
	spare      []int64    // for the next progress
}

// run receives until the first sign of revocation and then lets go. It does not stop receiving while the claim is held: a full
// backlog pauses the fetches.
func (l *loop) run() {
	defer l.alarm.stop()
	defer l.letGo() // also where the user's key function has ended the goroutine
	if old := l.predecessor; old != nil {
		l.predecessor = nil // or each claim would hold all before it
		l.adopt(old)
	}
	l.hasEntered()
	l.beginAtOnce()
	for l.open {
		wake := l.wake
		if l.resting {
			wake = nil
		}
		select {
		case m, ok := <-l.input():
			l.receive(m, ok)
		case <-wake:
			l.takeOver()
		case <-l.alarm.timer.C:
			l.ring()
		case <-l.doubted:
			l.prove()
		case <-l.intake.Done():
			l.open = false
		}
	}
}

// hasEntered looks whether the partition is idle that is to be handed over: what goes on there is ours by now.
func (l *loop) hasEntered() {
	l.pool.mu.Lock()
	l.entered = true
	l.pool.mu.Unlock()
	l.signal()
}

// workEnded stops starts and cancels tasks, whatever the loop is at: it may be at a log or a hook that takes its time.
func (l *loop) workEnded() {
	l.stop()
	l.cancelTasks(workCause(l.work))
}

// takeOver settles what ended and then leaves ends alone for a moment, unless the loop waits for room.
func (l *loop) takeOver() {
	now := l.exchange()
	l.deliverAside()
	if !l.room.paused {
		l.resting = true
		l.alarm.set(atRest, now+rest, now)
	}
}

// ring does what is due.
func (l *loop) ring() {
	now := l.pool.now()
	due := l.alarm.ring(now)
	if due[atRest] {
		l.resting = false
	}
	if due[atRetry] {
		l.tryAgain(now)
	}
	if due[atLook] {
		l.lookAfter(now)
	}
	if due[atHold] {
		l.pastHold(now)
	}
	if due[atYield] {
		l.yieldBySession()
	}
	if due[atLook] || due[atCommit] || due[atHold] {
		l.exchange()
		l.deliverAside()
	}
}

// lookAfter cuts runs whose current task lasts, so that the others of them neither wait for it nor stay uncommitted.
func (l *loop) lookAfter(now time.Duration) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.watched = false
	for r := l.active; r != nil; r = r.after {
		switch {
		case r.n-r.done <= 1:
		case now-r.begin < lasting:
			l.watched = true
		default:
			r.cutLocked()
			r.settleLocked(r.n - 1)
		}
	}
	l.pool.readyLocked(l.claim)
}
