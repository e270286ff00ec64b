package check

import (
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// interruptions wants no planned change to cancel a task: members join, members leave in order, topics grow. A member that stops cancels
// what it still has after its grace; what a fault of anybody may have caused is no planned change's. A test is a run that has seen a change,
// or that was cancelled.
func (r *Report) interruptions() {
	r.changes()
	for _, x := range r.story.runs {
		at := r.story.interrupted(x)
		switch {
		case at == far:
			if r.story.sawChange(x) {
				r.Checked["G13"]++
			}
		case r.story.unplanned(at) != nil, r.story.hasMissed(seat{x.process, x.place}, at-justHeard, at+justHeard):
			r.Exempt["G13"]++ // a generation that was missed may have been anybody's, as documented
		case r.story.graceIsOver(x.process, at):
			r.Checked["G13"]++
		default:
			r.holds(false, where{rule: "G13", at: at, of: &x.message}, "%s cancels %s %d@%d after %v, and there is no fault", x.process, x.group, x.partition, x.offset, (at - x.begin).Round(time.Millisecond))
		}
	}
}

// justHeard is how soon a task is cancelled after its process has heard that it has missed a generation.
const justHeard = 500 * time.Millisecond

// interrupted is when a run was cancelled, or its process has ended under it in a stop; far where neither. A kill is a fault's.
func (s *story) interrupted(x *run) time.Duration {
	_, stops := s.stops[x.process]
	switch {
	case x.gone && stops:
		return x.counts()
	case x.gone && x.cancel >= x.end:
		return far
	default:
		return x.cancel
	}
}

// graceIsOver says that a process that was asked to stop had its grace by then.
func (s *story) graceIsOver(process string, at time.Duration) bool {
	asked, stops := s.stops[process]
	if !stops || at < asked {
		return false
	}
	for _, g := range s.header.Groups {
		if at-asked >= g.StopGrace-10*time.Millisecond {
			return true
		}
	}
	return false
}

// sawChange says that a run went on at a time when a planned change was made or felt, and no fault was.
func (s *story) sawChange(x *run) bool {
	return slices.ContainsFunc(s.faults, func(f fault) bool {
		from, to := max(f.begin, x.begin), min(f.felt(), x.end)
		return f.class == ledger.Planned && from <= to && s.unplanned(from) == nil
	})
}

// changes counts the planned changes, and those that no fault was felt in: of them it can be told what they do.
func (r *Report) changes() {
	for _, f := range r.story.faults {
		if f.class != ledger.Planned {
			continue
		}
		r.Planned++
		alone := !slices.ContainsFunc(r.story.faults, func(g fault) bool {
			return g.class != ledger.Planned && g.begin <= f.end && f.begin <= g.felt()
		})
		if alone {
			r.Alone++
		}
	}
}
