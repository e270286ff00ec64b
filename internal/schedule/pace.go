package schedule

import "time"

// Turn is how long one claim is served before the next one gets its turn, and how much work a run is meant to hold.
const Turn = 100 * time.Microsecond

// MaxRun is the most messages that are handed over in one run.
const MaxRun = 64

// Pace follows how long a task of a claim takes, and says how many to hand over at once. The zero value knows nothing yet.
type Pace struct {
	mean  time.Duration
	known bool
}

// Add takes a run of n tasks that took d. The first one counts in full: a mean that has to climb down from a guess would need
// twenty runs to find out that tasks are short.
func (p *Pace) Add(d time.Duration, n int) {
	if n < 1 {
		return
	}
	per := d / time.Duration(n)
	if !p.known {
		p.mean, p.known = per, true
		return
	}
	p.mean += (per - p.mean) / 8
}

// Run returns how many tasks make a run: one until the first is measured or when a task fills a turn by itself, so that nothing
// is queued behind long work; many when they are short.
func (p *Pace) Run() int {
	if !p.known {
		return 1
	}
	return min(max(1, int(Turn/max(1, p.mean))), MaxRun)
}

// Mean returns the mean time of a task, zero as long as nothing is known.
func (p *Pace) Mean() time.Duration { return p.mean }
