package check

import (
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// fault is one of the laboratory's.
type fault struct {
	number     int
	name       string
	class      ledger.Class
	process    string
	begin, end time.Duration
}

// felt is until when the effects of a fault may last.
func (f fault) felt() time.Duration { return min(f.end, far-aftermath) + aftermath }

// disturbedBy returns the fault that hits the membership or the commits of a process, or of all of them, within a time, nil for none. A fault is
// felt for a while after its end. Another leader of a topic touches neither.
func (s *story) disturbedBy(process string, from, to, felt time.Duration) *fault {
	i := slices.IndexFunc(s.faults, func(f fault) bool {
		mine := f.class == ledger.OfCluster && f.name != "move-leaders" || f.class == ledger.OfMember && f.process == process
		return mine && f.begin <= to && (f.end == far || f.end+felt >= from)
	})
	if i < 0 {
		return nil
	}
	return &s.faults[i]
}

// unplanned returns a fault of anybody that is felt at a time, nil for none.
func (s *story) unplanned(at time.Duration) *fault {
	i := slices.IndexFunc(s.faults, func(f fault) bool {
		return f.class != ledger.Planned && f.begin <= at && at <= f.felt()
	})
	if i < 0 {
		return nil
	}
	return &s.faults[i]
}

// undisturbed is how much of a time no broker was disturbed, where a fault is felt for a while after its end.
func (s *story) undisturbed(from, to, felt time.Duration) time.Duration {
	d, covered := to-from, from
	for _, f := range s.faults { // by their begin
		if f.class != ledger.OfCluster {
			continue
		}
		end := f.end
		if end != far {
			end += felt
		}
		begin := max(f.begin, covered)
		d -= max(min(to, end)-begin, 0)
		covered = max(covered, end)
	}
	return max(d, 0)
}

// hit is how many processes a fault hit, or is felt in, within a time.
func (s *story) hit(from, to time.Duration) int {
	processes := map[string]bool{}
	for _, f := range s.faults {
		if f.class == ledger.OfMember && f.begin <= to && f.felt() >= from {
			processes[f.process] = true
		}
	}
	return len(processes)
}

// awake is how much of a time a process was not frozen.
func (s *story) awake(process string, from, to time.Duration) time.Duration {
	d := max(to-from, 0)
	for _, f := range s.frozen[process] {
		d -= max(min(to, f.end)-max(from, f.begin), 0)
	}
	return max(d, 0)
}

// weather is which faults there are at a time, or are felt still.
type weather struct {
	cluster bool
	hit     map[string]bool // processes
}

func (s *story) weather(at time.Duration) *weather {
	sky := &weather{hit: map[string]bool{}}
	for _, f := range s.faults {
		if f.begin > at || f.felt() < at {
			continue
		}
		switch f.class {
		case ledger.OfCluster:
			sky.cluster = true
		case ledger.OfMember:
			sky.hit[f.process] = true
		case ledger.Planned:
		}
	}
	return sky
}
