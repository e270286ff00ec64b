package check

import (
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// longestDwell is how long a partition may be without a claim.
const longestDwell = 15 * time.Second

// dwells wants partitions to be claimed again soon (L1b).
func (r *Report) dwells() {
	for at, claims := range r.story.held() {
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

// held are the claims of each partition by their begin.
func (s *story) held() map[place][]claim {
	held := map[place][]claim{}
	for at, claims := range s.claims {
		held[at.place] = append(held[at.place], claims...)
	}
	for _, claims := range held {
		slices.SortFunc(claims, func(a, b claim) int { return int(a.begin - b.begin) })
	}
	return held
}

func (r *Report) dwell(at place, from, to time.Duration) {
	m := message{at, 0}
	took := r.story.undisturbed(from, to, r.story.groups[at.group].SessionTimeout)
	if took > longestDwell+Slack && r.story.hit(from, to) > 1 { // who had it next was hit as well
		r.Exempt["L1b"]++
		return
	}
	r.holds(took <= longestDwell+Slack, where{rule: "L1b", at: to, of: &m}, "%s %d had no claim for %v, of which the brokers were whole for %v", at.group, at.partition,
		(to - from).Round(time.Millisecond), took.Round(time.Millisecond))
}

// partings wants a member that stops in order to let all its partitions go before it is gone (L1), and to take leave: others have them before
// the brokers would have missed it, unless a fault comes between or nobody is left (L4).
func (r *Report) partings() {
	held := r.story.held()
	for _, e := range r.story.events {
		if e.Kind != ledger.Stopped {
			continue
		}
		for at, claims := range r.story.claims {
			if at.process != e.Member || at.group != e.Group {
				continue
			}
			last, m := claims[len(claims)-1], message{at.place, 0}
			let := last.end <= e.At && !slices.ContainsFunc(claims, func(c claim) bool { return !c.let })
			r.holds(let, where{rule: "L1", at: e.At, of: &m}, "Run of %s in %s has returned, and partition %d was not let go", e.Member, e.Group, at.partition)
			if asked, stops := r.story.stops[e.Member]; stops && last.end >= asked {
				r.parting(at, e.At, held[at.place])
			}
		}
	}
}

func (r *Report) parting(from seat, left time.Duration, held []claim) {
	missed := r.story.groups[from.group].SessionTimeout * 5 / 6 // when it would not take long any more until the brokers miss it
	next := slices.IndexFunc(held, func(c claim) bool { return c.end > left })
	until := far
	if next >= 0 {
		until = held[next].begin
	}
	if limit := left + missed; until > limit && (r.story.settled <= limit || !r.story.whole(left, limit)) {
		r.Exempt["L4"]++
		return
	}
	m := message{from.place, 0}
	r.holds(until-left <= missed, where{rule: "L4", at: left, of: &m}, "%s has left %s, and %v later nobody has partition %d", from.process, from.group, missed, from.partition)
}

// whole says that no fault was felt within a time, and that somebody was there all the time.
func (s *story) whole(from, to time.Duration) bool {
	if s.unplanned(from) != nil || s.unplanned(to) != nil {
		return false
	}
	return slices.ContainsFunc(s.events, func(e ledger.Event) bool {
		if e.Kind != ledger.Spawned || e.At+comesUp > from {
			return false
		}
		gone, ended := s.gone[e.Member]
		asked, stops := s.stops[e.Member]
		return (!ended || gone > to) && (!stops || asked > to)
	})
}
