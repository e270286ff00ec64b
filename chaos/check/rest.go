package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// rest wants nothing to be left where all is done: no task, no backlog, no pause (L6).
func (r *Report) rest() {
	if r.story.settled == far {
		r.Unchecked["L6"] = "the run was not brought to its end"
		return
	}
	for member, list := range r.story.samples() {
		last := list[len(list)-1]
		if gone, ok := r.story.gone[member]; ok && gone < r.story.settled {
			continue
		}
		r.holds(last.At >= r.story.settled, where{rule: "L6", at: last.At}, "%s has not looked at itself since the end, which it does each second", member)
		u := last.Usage
		left := u.Running + u.Stray + u.Kept + u.Backlog + u.Stuck
		r.holds(left == 0 && u.Lag == 0, where{rule: "L6", at: last.At}, "%s at rest: %d running, %d stray, %d kept, %d in backlogs, %d paused without one, lag %d", member, u.Running, u.Stray, u.Kept, u.Backlog, u.Stuck, u.Lag)
	}
}

func (s *story) samples() map[string][]ledger.Event {
	m := map[string][]ledger.Event{}
	for _, e := range s.events {
		if e.Kind == ledger.Sampled {
			m[e.Member] = append(m[e.Member], e)
		}
	}
	return m
}

// longestStuck is for how long a claim may be paused with nothing in its backlog: a moment, until its loop looks again.
const longestStuck = 8 * time.Second

// unlatched wants pauses to end with their cause, also before the end (L6). A frozen process cannot.
func (r *Report) unlatched() {
	for member, list := range r.story.samples() {
		since := list[0].At
		for _, e := range list {
			if e.Usage.Stuck == 0 {
				since = e.At
				continue
			}
			stuck := r.story.awake(member, since, e.At)
			r.holds(stuck <= longestStuck, where{rule: "L6", at: e.At}, "%s has had a claim that is paused with nothing in its backlog for %v", member, stuck)
		}
	}
}

// enough is how long a process has to live for its memory to say something.
const enough = 9 * time.Minute

// level wants what a process has in use not to rise over its life (L7): by the median of all slopes between two samples, which single peaks
// do not move.
func (r *Report) level() {
	for member, list := range r.story.samples() {
		life := list[len(list)-1].At - list[0].At
		if life < enough {
			continue
		}
		for _, m := range measures {
			rise := slope(m.choose(list), m.of) * life.Seconds()
			r.holds(rise <= m.slack, where{rule: "L7", at: list[len(list)-1].At}, "%s: %s has risen by %.0f in %v", member, m.name, rise, life.Round(time.Second))
		}
	}
	if r.Checked["L7"] == 0 {
		r.Unchecked["L7"] = fmt.Sprintf("no process has lived for %v: see the soak", enough)
	}
}

// measure is something that should stay level, and by how much it may have risen by chance.
type measure struct {
	name  string
	slack float64
	clean bool // only what is left after a collection counts
	of    func(*ledger.Usage) float64
}

var measures = []measure{
	{"heap", 3 << 20, true, func(u *ledger.Usage) float64 { return float64(u.Heap) }},
	{"resident memory", 16 << 20, false, func(u *ledger.Usage) float64 { return float64(u.RSS) }},
	{"goroutines", 30, false, func(u *ledger.Usage) float64 { return float64(u.Goroutines) }},
	{"descriptors", 10, false, func(u *ledger.Usage) float64 { return float64(u.Files) }},
	{"lag", 100, false, func(u *ledger.Usage) float64 { return float64(u.Lag) }}, // of some 25 messages a second, for all groups
}

// choose leaves out the first third, in which a process fills its buffers, and takes at most 300 of what counts.
func (m measure) choose(list []ledger.Event) (chosen []ledger.Event) {
	for _, e := range list[len(list)/3:] {
		if e.Usage.Clean || !m.clean {
			chosen = append(chosen, e)
		}
	}
	for len(chosen) > 300 {
		half := chosen[:0]
		for i := 0; i < len(chosen); i += 2 {
			half = append(half, chosen[i])
		}
		chosen = half
	}
	return chosen
}

// slope is the median of those between all pairs of samples, a second (Theil and Sen).
func slope(list []ledger.Event, of func(*ledger.Usage) float64) float64 {
	var slopes []float64
	for i, a := range list {
		for _, b := range list[i+1:] {
			slopes = append(slopes, (of(b.Usage)-of(a.Usage))/(b.At-a.At).Seconds())
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	return slopes[len(slopes)/2]
}
