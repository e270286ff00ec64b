package contract_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// watch checks what the members of a group do with its messages, and keeps a trace of it that is printed once something was wrong.
type watch struct {
	t     *testing.T
	order handler.Order

	mu      sync.Mutex
	trace   []string
	wrong   int // place of the first failure in the trace, 0 for none
	running map[message]run
	handled map[message]bool    // somebody did, well
	stored  map[message]bool    // and nobody may again
	stopped map[int32]time.Time // when a task of the partition was cancelled that was past the hold limit
}

type message struct {
	partition int32
	offset    int64
}

// run is a task that runs.
type run struct {
	by *watched
	at time.Time
}

// watched is a member.
type watched struct {
	*watch
	name  string
	holds bool // its tasks keep partitions from moving
	gone  bool // it leaves, or has left: its tasks are cancelled, and nobody waits for them
}

func newWatch(t *testing.T, order handler.Order) *watch {
	w := &watch{
		t: t, order: order, running: map[message]run{}, handled: map[message]bool{}, stored: map[message]bool{}, stopped: map[int32]time.Time{},
	}
	t.Cleanup(w.print)
	return w
}

// start checks that nobody else is at the message, or by partition at any of its partition, and that it is not done. A task that holds nothing is
// cancelled as its member hears of the round, in the same moment as the next owner: see end.
func (m *watched) start(task *handler.Task) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := message{task.Partition, task.Offset}
	m.noteLocked("%s starts %v", m.name, k)
	for other, r := range m.running {
		if r.by.holds && !r.by.gone && (other == k || m.order == handler.ByPartition && other.partition == k.partition) {
			m.failLocked("%s starts %v, and %s is at %v", m.name, k, r.by.name, other)
		}
	}
	if m.stored[k] {
		m.failLocked("%s starts %v, which is done", m.name, k)
	}
	m.running[k] = run{m, time.Now()}
}

// end takes what became of a task. One that a member has done as it left may be stored or not, and so may one beyond another that is not done:
// plain sessions of sarama's store no more than an offset.
func (m *watched) end(task *handler.Task, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := message{task.Partition, task.Offset}
	m.noteLocked("%s ends %v: %v", m.name, k, err)
	if err != nil {
		m.cancelledLocked(k)
	} else {
		m.handled[k], m.stored[k] = true, m.order == handler.ByPartition && !m.gone
	}
	switch now, runs := m.running[k]; {
	case runs && now.by == m:
		delete(m.running, k)
	case runs && !m.gone && !now.at.Equal(time.Now()):
		m.failLocked("%s was at %v until now, and %s is since %v", m.name, k, now.by.name, now.at)
	}
}

// cancelledLocked checks that a leader has stopped the task, or that it keeps nothing from moving. A task past the limit takes those of its
// partition with it.
func (m *watched) cancelledLocked(k message) {
	for other, r := range m.running {
		if r.by == m && other.partition == k.partition && time.Since(r.at) > crowdHoldLimit {
			m.stopped[k.partition] = time.Now()
		}
	}
	if m.holds && !m.gone && !m.stopped[k.partition].Equal(time.Now()) {
		m.failLocked("%s has lost %v", m.name, k)
	}
}

func (m *watched) leaves() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noteLocked("%s leaves", m.name)
	m.gone = true
}

// done is how many messages somebody has handled.
func (w *watch) done() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.handled)
}

func (w *watch) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteLocked(format, args...)
}

func (w *watch) noteLocked(format string, args ...any) {
	w.trace = append(w.trace, time.Now().Format("02 15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *watch) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failLocked(format, args...)
}

// failLocked puts the failure into the trace, where it tells what was before it.
func (w *watch) failLocked(format string, args ...any) {
	if w.wrong == 0 {
		w.wrong = len(w.trace)
	}
	w.noteLocked("FAILED: "+format, args...)
	w.t.Errorf(format, args...)
}

// print prints what led to the first failure.
func (w *watch) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.t.Failed() {
		for _, line := range w.trace[max(0, w.wrong-40):min(w.wrong+5, len(w.trace))] {
			w.t.Log(line)
		}
	}
}
