package check

import "time"

// interruptions wants no planned change to cancel a task: members join, members leave in order, topics grow. A member that stops cancels
// what it still has after its grace; what a fault of anybody may have caused is no planned change's.
func (r *Report) interruptions() {
	for _, x := range r.story.runs {
		at := r.story.interrupted(x)
		switch {
		case at == far:
			r.Checked["G13"]++
		case r.story.unplanned(at) != nil:
			r.Exempt["G13"]++
		case r.story.graceIsOver(x.process, at):
			r.Checked["G13"]++
		default:
			r.holds(false, where{rule: "G13", at: at, of: &x.message}, "%s cancels %s %d@%d after %v, and there is no fault", x.process, x.group, x.partition, x.offset, (at - x.begin).Round(time.Millisecond))
		}
	}
}

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
