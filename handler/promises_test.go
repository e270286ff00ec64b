package handler_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// roundsOfAMark is how many rounds may leave a marked partition in place that is idle, before its member goes on there.
const roundsOfAMark = 3

// promises is what a member may do at a time, by what it has reported and was told about its one partition. It checks what the member does,
// and keeps a trace of it that is printed once something was wrong.
type promises struct {
	t     *testing.T
	order handler.Order
	plain bool // sessions of sarama's alone: what is done beyond an unfinished message is stored nowhere, and does not outlast them

	mu      sync.Mutex
	trace   []string
	running map[int64]*begun
	tries   map[int64]int
	done    map[int64]bool // ended well
	stopped bool           // the test is over, which cancels what runs

	at     time.Time // of the latest report
	busy   bool      // it said so
	over   bool      // it said that a task is past the limit
	frozen bool      // its round goes on, and it said that the partition is idle

	marked bool
	marks  int       // rounds that have left the partition in place although it was marked and idle
	stops  time.Time // tasks that began until then may be cancelled
	hit    bool      // one of them was: those beside it are too
	ends   bool      // the claim does, for tasks of it were cancelled
}

// begun is a task that runs.
type begun struct {
	at   time.Time
	key  string
	left time.Time // when it was cancelled
}

func newPromises(t *testing.T, order handler.Order, plain bool) *promises {
	p := &promises{t: t, order: order, plain: plain, running: map[int64]*begun{}, tries: map[int64]int{}, done: map[int64]bool{}}
	t.Cleanup(p.print)
	return p
}

// start checks that the task may start, and says whether it is the first attempt.
func (p *promises) start(m *handler.Task) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked("start %d", m.Offset)
	switch {
	case p.overlapsLocked(m):
		p.failLocked("%d starts beside %v", m.Offset, slices.Collect(maps.Keys(p.running)))
	case p.frozen:
		p.failLocked("%d starts in a round, on what was reported as idle", m.Offset)
	case p.holdsLocked():
		p.failLocked("%d starts on a marked partition", m.Offset)
	case p.done[m.Offset]:
		p.failLocked("%d is done, and starts again", m.Offset)
	}
	p.running[m.Offset] = &begun{at: time.Now(), key: string(m.Key)}
	p.tries[m.Offset]++
	return p.tries[m.Offset] == 1
}

// overlapsLocked says that something runs which the task has to wait for.
func (p *promises) overlapsLocked(m *handler.Task) bool {
	_, twice := p.running[m.Offset]
	for _, other := range p.running {
		twice = twice || p.order == handler.ByPartition || p.order == handler.ByKey && other.key == string(m.Key)
	}
	return twice
}

// holdsLocked says that nothing may start, for the partition is to go to another member.
func (p *promises) holdsLocked() bool { return p.marked && p.marks < roundsOfAMark }

func (p *promises) end(m *handler.Task, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked("end %d: %v", m.Offset, err)
	delete(p.running, m.Offset)
	if err == nil {
		p.done[m.Offset] = true
	}
}

// cancelled checks that a leader has stopped the task. A stop is of what ran past the limit when it was reported, or of all that ran then where
// the partition is disputed. As it ends the claim, it takes what runs beside such a task with it.
func (p *promises) cancelled(m *handler.Task, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked("cancelled %d: %v", m.Offset, cause)
	for _, task := range p.running {
		p.hit = p.hit || !task.at.After(p.stops)
	}
	p.running[m.Offset].left = time.Now()
	p.ends = true
	if !p.hit && !p.stopped {
		p.failLocked("%d is cancelled, and no leader has stopped it", m.Offset)
	}
}

// reported checks that the leader is told of all that runs, and of all that would run again elsewhere for lack of a commit. A round begins.
func (p *promises) reported(r assign.Report, isStored func(offset int64) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked("reported busy %v, over %v, stuck %v, marked %v", r.Busy, r.Over, r.Stuck, r.Marked)
	p.at, p.busy, p.over = time.Now(), r.Busy.Has(topic, 0), r.Over.Has(topic, 0)
	p.frozen = !p.busy
	if p.isStuckLocked() && !r.Stuck.Has(topic, 0) {
		p.failLocked("a task does not return, and is not reported as stuck")
	}
	if p.busy {
		return
	}
	if len(p.running) > 0 {
		p.failLocked("%v run and are not reported", slices.Collect(maps.Keys(p.running)))
	}
	for o := range p.done {
		if !isStored(o) && !p.isBeyondLocked(o) {
			p.failLocked("%d is done, and would run again elsewhere: it is reported as idle and not stored", o)
		}
	}
}

// isStuckLocked says that a task was cancelled and has had all the time that it has to return.
func (p *promises) isStuckLocked() bool {
	for _, task := range p.running {
		if !task.left.IsZero() && time.Since(task.left) > time.Minute {
			return true
		}
	}
	return false
}

// isBeyondLocked says that the session cannot store that the message is done.
func (p *promises) isBeyondLocked(offset int64) bool {
	for o := int64(0); p.plain && o < offset; o++ {
		if !p.done[o] {
			return true
		}
	}
	return false
}

func (p *promises) sessionEnded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked("the session has ended")
	p.ends = false
	maps.DeleteFunc(p.done, func(o int64, _ bool) bool { return p.isBeyondLocked(o) })
}

// told takes what the leader says: the round is over.
func (p *promises) told(a assign.Assignment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteLocked("told to hand over %v, to stop %v", a.HandOver, a.Stop)
	marked := a.HandOver.Has(topic, 0)
	if p.marks++; !p.marked || !marked || len(p.running) > 0 {
		p.marks = 0
	}
	p.frozen, p.marked, p.hit = false, marked, false
	if p.stops = (time.Time{}); a.Stop.Has(topic, 0) {
		p.stops = p.at
		if p.over {
			p.stops = p.at.Add(-holdLimit)
		}
	}
}

// claimEnded checks that a claim that has ended was asked to: by a stop, or over a plain session by a mark.
func (p *promises) claimEnded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ends && (!p.plain || !p.marked) {
		p.failLocked("the claim has ended by itself")
	}
}

// mustWork checks that a member with messages works, or may not.
func (p *promises) mustWork() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.running) == 0 && !p.holdsLocked() {
		p.failLocked("the member idles")
	}
}

// mustHaveStopped checks that what the leader has stopped is cancelled.
func (p *promises) mustHaveStopped() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for o, task := range p.running {
		if !task.at.After(p.stops) && task.left.IsZero() {
			p.failLocked("%d goes on, although the leader has stopped it", o)
		}
	}
}

func (p *promises) isBusy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy
}

func (p *promises) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// stop ends the promise that nothing is cancelled.
func (p *promises) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

func (p *promises) noteLocked(format string, args ...any) {
	p.trace = append(p.trace, time.Now().Format("02 15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (p *promises) fail(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failLocked(format, args...)
}

// failLocked puts the failure into the trace, where it tells what was before it.
func (p *promises) failLocked(format string, args ...any) {
	p.noteLocked("FAILED: "+format, args...)
	p.t.Errorf(format, args...)
}

// print prints the end of the trace. A run ends soon after its first failure.
func (p *promises) print() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.t.Failed() {
		for _, line := range p.trace[max(0, len(p.trace)-50):] {
			p.t.Log(line)
		}
	}
}
