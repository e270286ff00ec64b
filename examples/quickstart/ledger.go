package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// ledger counts what really happens: handlers and hooks write into it. Safe for concurrent use.
type ledger struct {
	work   work
	began  time.Time
	change chan struct{} // 1: a task has ended. Lossy, the truth is under the lock

	mu          sync.Mutex
	partitions  []account
	started     int
	generations map[int32]bool // that a member heard of
	notes       []note         // not shown yet
}

// account is what happened to one partition.
type account struct {
	handled   []bool // by offset
	left      int    // of handled, those that are not
	running   []task
	idle      time.Time     // since when no task runs, zero before the group's first assignment
	stall     time.Duration // the longest
	committed int64         // as the broker has confirmed it
}

// task is a handler call that goes on.
type task struct {
	member string
	offset int64
}

func newLedger(w work) *ledger {
	l := &ledger{
		work: w, began: time.Now(), change: make(chan struct{}, 1),
		partitions: make([]account, len(w)), generations: map[int32]bool{},
	}
	for p, tasks := range w {
		l.partitions[p] = account{handled: make([]bool, len(tasks)), left: len(tasks)}
	}
	return l
}

// start is told of each start of a handler.
func (l *ledger) start(partition int32, t task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started++
	a := &l.partitions[partition]
	a.endStall(time.Now())
	a.running = append(a.running, t)
}

// end is told of each end of a handler.
func (l *ledger) end(partition int32, t task, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.partitions[partition]
	i := slices.Index(a.running, t)
	a.running = slices.Delete(a.running, i, i+1)
	if err == nil && !a.handled[t.offset] {
		a.handled[t.offset] = true
		a.left--
	}
	if len(a.running) == 0 {
		a.idle = time.Now()
	}
	l.signal()
}

// endStall is called when a task starts, and at the end. A partition without messages left has nothing to do and does not stall.
func (a *account) endStall(now time.Time) {
	if len(a.running) == 0 && a.left > 0 && !a.idle.IsZero() {
		a.stall = max(a.stall, now.Sub(a.idle))
	}
}

// rebalance is told of each assignment that a member receives.
func (l *ledger) rebalance(member string, r consumer.Rebalance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.partitions {
		if a := &l.partitions[p]; a.idle.IsZero() {
			a.idle = time.Now()
		}
	}
	l.generations[r.Generation] = true
	l.noteLocked(describe(member, r, l.runningLocked(member)))
}

// runningLocked lists what a member runs, by partition.
func (l *ledger) runningLocked(member string) map[int32]int64 {
	runs := map[int32]int64{}
	for p := range l.partitions {
		for _, r := range l.partitions[p].running {
			if r.member == member {
				runs[int32(p)] = r.offset
			}
		}
	}
	return runs
}

// commit is told of each commit that the broker has confirmed.
func (l *ledger) commit(partition int32, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.partitions[partition]
	a.committed = max(a.committed, offset)
}

func (l *ledger) messages() int {
	n := 0
	for _, tasks := range l.work {
		n += len(tasks)
	}
	return n
}

// progress is how many messages are handled, and how many of them are committed.
func (l *ledger) progress() (handled, committed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.partitions {
		a := &l.partitions[p]
		handled += len(a.handled) - a.left
		committed += int(a.committed)
	}
	return handled, committed
}

// done says whether all messages of a partition are handled.
func (l *ledger) done(partition int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partitions[partition].left == 0
}

// await waits until that many messages are handled. The error is the cause of ctx.
func (l *ledger) await(ctx context.Context, messages int) error {
	for {
		if handled, _ := l.progress(); handled >= messages {
			return nil
		}
		select {
		case <-l.change:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *ledger) signal() {
	select {
	case l.change <- struct{}{}:
	default:
	}
}
