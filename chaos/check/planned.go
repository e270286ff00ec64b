package check

import "time"

// interruptions wants no planned change to cancel a task: members join, members leave in order, topics grow. A member that stops cancels
// what it still has after its grace; what a fault of anybody may have caused is no planned change's.
func (r *Report) interruptions() {
	for _, x := range r.story.runs {
		switch {
		case x.cancel == far || x.gone && x.cancel >= x.end:
			r.Checked["G13"]++
		case r.story.unplanned(x.cancel) != nil:
			r.Exempt["G13"]++
		case r.story.graceIsOver(x.process, x.cancel):
			r.Checked["G13"]++
		default:
			r.holds(false, where{rule: "G13", at: x.cancel, of: &x.message}, "%s cancels %s %d@%d after %v, and there is no fault", x.process, x.group, x.partition, x.offset, (x.cancel - x.begin).Round(time.Millisecond))
		}
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
