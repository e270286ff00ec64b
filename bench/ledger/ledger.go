package ledger

import (
	"sync"
	"time"
)

// How is what became of a run.
type How int

// A run that has no end yet is Running, also when it is asked for.
const (
	Running How = iota
	Done
	Cancelled
	Killed
)

// Run is one start of a task.
type Run struct {
	Member    int
	Partition int32
	Offset    int64
	Start     time.Time
	End       time.Time // of a running one: when it was asked for
	How       How
}

// Took is how long it has run.
func (r Run) Took() time.Duration { return r.End.Sub(r.Start) }

// Ledger keeps the runs of all members. It is safe for concurrent use.
type Ledger struct {
	mu   sync.Mutex
	runs []Run
	open map[task][]int // indices of runs without an end
}

// task is a message in the hands of a member.
type task struct {
	member    int
	partition int32
	offset    int64
}

// Add takes a member's event. An end is that of the run which began first among those that have none.
func (l *Ledger) Add(member int, e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := task{member, e.Partition, e.Offset}
	if e.Kind == Started {
		if l.open == nil {
			l.open = map[task][]int{}
		}
		l.open[of] = append(l.open[of], len(l.runs))
		l.runs = append(l.runs, Run{Member: member, Partition: e.Partition, Offset: e.Offset, Start: e.At})
		return
	}
	open := l.open[of]
	if len(open) == 0 {
		return
	}
	r := &l.runs[open[0]]
	if l.open[of] = open[1:]; len(open) == 1 {
		delete(l.open, of)
	}
	r.End, r.How = e.At, Done
	if e.Kind == Cut {
		r.How = Cancelled
	}
}

// Kill ends the runs that the member has at that time.
func (l *Ledger) Kill(member int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, open := range l.open {
		if of.member != member {
			continue
		}
		for _, i := range open {
			l.runs[i].End, l.runs[i].How = at, Killed
		}
		delete(l.open, of)
	}
}

// Runs are those so far, in the order in which they were heard of.
func (l *Ledger) Runs(now time.Time) Runs {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make(Runs, len(l.runs))
	for i, r := range l.runs {
		if r.How == Running {
			r.End = now
		}
		list[i] = r
	}
	return list
}
