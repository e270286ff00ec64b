package check

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// releases wants claims to let go in time (L1). A frozen process cannot.
func (r *Report) releases() {
	stopping := map[string]bool{}
	for _, e := range r.story.events {
		switch e.Kind {
		case ledger.Stopping:
			stopping[e.Member] = true
		case ledger.Released:
			g := r.story.groups[e.Group]
			grace := g.Grace
			if stopping[e.Member] {
				grace = max(grace, g.StopGrace)
			}
			took := r.story.awake(e.Member, e.At-e.Took, e.At)
			m := message{placeOf(e), 0}
			r.holds(took <= grace+time.Second+Slack, where{rule: "L1", at: e.At, of: &m}, "%s lets go of %s %d after %v, want at most %v + 1 s", e.Member, e.Group, e.Partition, took, grace)
		default:
		}
	}
}

// longestPause is how long a group may finish nothing while there is work.
const longestPause = 30 * time.Second

// progress wants each group to finish something every now and then (L2). Work comes all the time, until the last message.
func (r *Report) progress() {
	last := map[string]time.Duration{}
	for _, x := range byEnd(r.story.done) {
		g := x.group
		if at, ok := last[g]; ok {
			pause := r.story.undisturbed(at, x.end, aftermath)
			r.holds(pause <= longestPause, where{rule: "L2", at: x.end, of: &x.message}, "%s had finished nothing for %v, of which the brokers were whole for %v", g, x.end-at, pause)
		}
		last[g] = x.end
	}
	r.unsettled()
}

// unsettled wants the members to have brought everything to its end, once nothing was broken any more (L2).
func (r *Report) unsettled() {
	for _, e := range r.story.events {
		if e.Kind != ledger.Unsettled {
			continue
		}
		for _, p := range r.story.events {
			if p.Kind != ledger.Produced {
				continue
			}
			list := r.story.stored[placeOf(p)]
			stored := int64(0)
			if n := len(list); n > 0 {
				stored = list[n-1].Offset
			}
			m := message{placeOf(p), stored}
			r.holds(stored >= p.Offset, where{rule: "L2", at: e.At, of: &m}, "%s %d is committed at %d of %d, and nothing has been broken for minutes", p.Group, p.Partition, stored, p.Offset)
		}
	}
}

func byEnd(done map[message]*run) []*run {
	return slices.SortedFunc(maps.Values(done), func(a, b *run) int { return cmp.Compare(a.end, b.end) })
}

// durable is how long an end may wait for its commit: G11.
const durable = 300 * time.Millisecond

// latenesses wants what has finished to be committed soon while the group is stable, and all of it at rest (L3).
func (r *Report) latenesses() {
	quiet := r.story.quiet()
	for m, x := range r.story.done {
		wall, ok := r.story.covered[m]
		if r.story.settled != far {
			r.holds(ok, where{rule: "L3", at: x.end, of: &m}, "%s %d@%d has finished and is committed by nobody", m.group, m.partition, m.offset)
		}
		if !ok || x.cancel < x.end || !quiet(x) {
			r.Exempt["L3"]++
			continue
		}
		late := time.Duration(wall - x.wall)
		r.Lateness = append(r.Lateness, late)
		r.holds(late <= durable+Slack, where{rule: "L3", at: x.end, of: &m}, "%s %d@%d was committed %v after its end in a stable group", m.group, m.partition, m.offset, late)
	}
	slices.Sort(r.Lateness)
}

// settling is how long after a round, or a change of the cluster, a group is not stable yet, and unsettling how long before.
const (
	settling   = 3 * time.Second
	unsettling = 2 * time.Second
)

// quiet says whether the group of a run was stable around its end: no member of it began or ended a session, no fault of anybody was felt, for
// it may keep a round from being completed, and the process was not about to stop.
func (s *story) quiet() func(*run) bool {
	rounds, own := map[string][]time.Duration{}, map[seat][]ledger.Event{}
	for _, e := range s.events {
		if e.Kind == ledger.Assigned || e.Kind == ledger.Session {
			rounds[e.Group] = append(rounds[e.Group], e.At)
			own[seatIn(e)] = append(own[seatIn(e)], e)
		}
	}
	return func(x *run) bool {
		from, to := x.end-settling, x.end+unsettling
		i, _ := slices.BinarySearch(rounds[x.group], from)
		stable := i == len(rounds[x.group]) || rounds[x.group][i] > to
		mine := own[seat{process: x.process, place: place{group: x.group}}]
		n, _ := slices.BinarySearchFunc(mine, x.end, func(e ledger.Event, at time.Duration) int { return cmp.Compare(e.At, at) })
		stable = stable && n > 0 && mine[n-1].Kind == ledger.Assigned // else a round is under way
		asked, stops := s.stops[x.process]
		return stable && (!stops || asked > to) && s.unplanned(from) == nil && s.unplanned(to) == nil
	}
}

// stops wants members to stop in time (L4).
func (r *Report) stops() {
	begin := map[string]time.Duration{}
	for _, e := range r.story.events {
		switch e.Kind {
		case ledger.Stopping:
			begin[e.Member] = e.At
		case ledger.Stopped:
			at, ok := begin[e.Member]
			r.holds(ok, where{rule: "L4", at: e.At}, "Run of %s in %s has returned, and nobody had asked for it", e.Member, e.Group)
			if ok {
				limit := r.story.groups[e.Group].StopGrace + 2*time.Second
				if r.story.disturbedBy(e.Member, at, e.At, time.Second) != nil {
					limit += 4 * time.Second
				}
				took := r.story.awake(e.Member, at, e.At)
				r.holds(took <= limit+Slack, where{rule: "L4", at: e.At}, "%s took %v to stop in %s, want at most %v", e.Member, took, e.Group, limit)
			}
		default:
		}
	}
}
