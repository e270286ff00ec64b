package check

import (
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/consumer"
)

// Why sessions end, as consumer.EndKind says it.
const (
	forRound = string(consumer.EndRebalance)
	byStop   = string(consumer.EndStop)
	forLoss  = string(consumer.EndLost)
)

const (
	// leastSpacing is how far apart the rounds are at least that a member asks for, and mostAsked how many they are in a while: each
	// of its partitions may move once.
	leastSpacing = 500 * time.Millisecond
	mostAsked    = 16
	askedIn      = 30 * time.Second
	// comesUp is how long a process may take until it asks to join, and what a full machine may add to a round.
	comesUp = 4 * time.Second
	// heardLate is by how much the others may be in the next generation before a member has heard that it is not in it.
	heardLate = 3 * time.Second
	// perReason is how many generations of a group one reason may have: who comes is let in, and what it is to have is taken from others and given
	// to it, by a member that may be frozen or slow in between.
	perReason = 4
)

// causes wants a reason for each session that ends by itself and for each generation (L5).
func (r *Report) causes() {
	reasons, known := r.story.reasons(), map[string]int32{}
	for _, e := range r.story.events {
		if e.Kind == ledger.Assigned && e.Generation > known[e.Group] {
			known[e.Group] = e.Generation
			r.holds(reasons.explain(e), where{rule: "L5", at: e.At}, "%s: a rebalance to generation %d, and nothing has happened in the group that explains it", e.Group, e.Generation)
		}
		if e.Kind == ledger.Session {
			r.sessionEnd(e)
		}
	}
	r.asking()
}

// sessionEnd wants a stop or a fault for the end of a session that no round has ended.
func (r *Report) sessionEnd(e ledger.Event) {
	session := r.story.groups[e.Group].SessionTimeout
	switch e.Text {
	case forRound:
	case byStop:
		asked, stops := r.story.stops[e.Member]
		r.holds(stops && asked <= e.At, where{rule: "L5", at: e.At}, "the session of %s in %s ends in a stop that nobody has asked for: %s", e.Member, e.Group, e.Err)
	case forLoss:
		r.holds(r.story.disturbedBy(e.Member, e.At-session, e.At, aftermath) != nil, where{rule: "L5", at: e.At}, "%s has lost its membership of %s, and nothing has happened to it: %s", e.Member, e.Group, e.Err)
	default:
		asked, stops := r.story.stops[e.Member]
		why := stops && asked <= e.At || r.story.unplanned(e.At) != nil
		r.holds(why, where{rule: "L5", at: e.At}, "the session of %s in %s has ended (%s), and nothing has happened to it: %s", e.Member, e.Group, e.Text, e.Err)
	}
}

// asking wants members to ask for rounds now and then only (L5).
func (r *Report) asking() {
	asked := map[seat][]time.Duration{}
	for _, e := range r.story.events {
		if e.Kind != ledger.Session || e.Own != ledger.AsksAgain {
			continue
		}
		at := seatIn(e)
		list := append(asked[at], e.At)
		asked[at] = list
		n := len(list)
		r.holds(n < 2 || e.At-list[n-2] >= leastSpacing, where{rule: "L5", at: e.At}, "%s asks for two rounds of %s within %v", e.Member, e.Group, e.At-list[max(0, n-2)])
		r.holds(n <= mostAsked || e.At-list[n-1-mostAsked] > askedIn, where{rule: "L5", at: e.At}, "%s asks for more than %d rounds of %s within %v", e.Member, mostAsked, e.Group, askedIn)
	}
}

// reason is why a group may have some new generations within a time.
type reason struct {
	from, to time.Duration
	used     int
}

// reasons are those of each group.
type reasons map[string][]*reason

// explain uses the reason up that holds for the shortest time from now.
func (l reasons) explain(e ledger.Event) bool {
	var best *reason
	for _, r := range l[e.Group] {
		if r.from <= e.At && e.At <= r.to && r.used < perReason && (best == nil || r.to < best.to) {
			best = r
		}
	}
	if best == nil {
		return false
	}
	best.used++
	return true
}

// reasons are the comings and goings of members, by their processes and by the ends of their sessions, and those that the brokers have to
// take for gone. What disturbs the brokers explains nothing by itself, for a group whose members keep their sessions keeps its generation;
// but it makes what follows from a reason last for longer.
func (s *story) reasons() reasons {
	list := reasons{}
	for _, g := range s.header.Groups {
		round := g.RebalanceTimeout + comesUp
		add := func(from, to time.Duration) {
			disturbed := to - from - s.undisturbed(from, to, aftermath)
			list[g.Name] = append(list[g.Name], &reason{from: from, to: to + disturbed})
		}
		for _, e := range s.events {
			switch {
			case e.Kind == ledger.Spawned:
				add(e.At, max(e.At, s.letIn(e.Member, g.Name))+round)
			case e.Kind == ledger.Stopping:
				add(e.At, e.At+g.StopGrace+round)
			case e.Kind == ledger.Gone && e.Text == "stopped":
				add(e.At, e.At+round)
			case e.Kind == ledger.Gone:
				add(e.At, e.At+g.SessionTimeout+round)
			case e.Kind == ledger.Session && e.Group == g.Name && ofItsOwn(e):
				add(e.At-heardLate, e.At+round)
			}
		}
		for _, f := range s.faults {
			if f.class == ledger.OfMember && (f.end == far || f.end-f.begin >= g.SessionTimeout) {
				add(f.begin, min(f.end, s.end())+round)
			}
		}
	}
	return list
}

// letIn is when a process had its first assignment in a group, 0 if it never had one.
func (s *story) letIn(process, group string) time.Duration {
	for _, e := range s.events {
		if e.Kind == ledger.Assigned && e.Member == process && e.Group == group {
			return e.At
		}
	}
	return 0
}

// ofItsOwn says that a session has ended for a reason of the member's, and not because others had begun a round.
func ofItsOwn(e ledger.Event) bool {
	return e.Text != forRound || e.Own != ""
}
