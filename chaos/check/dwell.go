package check

import (
	"slices"
	"time"
)

// longestDwell is how long a partition may be without a claim.
const longestDwell = 15 * time.Second

// dwells wants partitions to be claimed again soon (L1b), and each claim to end before its process does in order (L1).
func (r *Report) dwells() {
	held := map[place][]claim{}
	for at, claims := range r.story.claims {
		held[at.place] = append(held[at.place], claims...)
	}
	for at, claims := range held {
		slices.SortFunc(claims, func(a, b claim) int { return int(a.begin - b.begin) })
		until := claims[0].end
		for _, c := range claims[1:] {
			if c.begin > until {
				r.dwell(at, until, c.begin)
			}
			until = max(until, c.end)
		}
		if until < r.story.settled && r.story.settled != far {
			r.dwell(at, until, r.story.settled)
		}
	}
}

func (r *Report) dwell(at place, from, to time.Duration) {
	m := message{at, 0}
	took := r.story.undisturbed(from, to, r.story.groups[at.group].SessionTimeout)
	r.holds(took <= longestDwell+Slack, where{rule: "L1b", at: to, of: &m}, "%s %d had no claim for %v, of which the brokers were whole for %v", at.group, at.partition,
		(to - from).Round(time.Millisecond), took.Round(time.Millisecond))
}
