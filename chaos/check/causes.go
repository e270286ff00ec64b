package check

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// asksAgain is what the session of a member ends with that asks for another round, so that a partition moves.
const asksAgain = "asks for another round"

// hasGrown is what the session of a member ends with that has seen a topic grow (sarama 1.61.1, consumer_group.go).
const hasGrown = "partition count changed"

const (
	// leastSpacing is how far apart the rounds are at least that a member asks for.
	leastSpacing = 500 * time.Millisecond
	// comesUp is how long a process may take until it asks to join, and what a full machine may add to a round.
	comesUp = 4 * time.Second
	// heardLate is by how much the others may be in the next generation before a member has heard that it is not in it.
	heardLate = 3 * time.Second
)

// causes wants a reason for each lost session and each generation (L5). A member that asks for a round is one, but may not do so at will.
func (r *Report) causes() {
	reasons := r.story.reasons()
	asked, known := map[seat]time.Duration{}, map[string]int32{}
	for _, e := range r.story.events {
		switch {
		case e.Kind == ledger.Assigned && e.Generation > known[e.Group]:
			known[e.Group] = e.Generation
			r.holds(reasons.explain(e), where{rule: "L5", at: e.At}, "%s: a rebalance to generation %d, and nothing has happened in the group that explains it", e.Group, e.Generation)
		case e.Kind != ledger.Session:
		case strings.Contains(e.Err, asksAgain):
			last, before := asked[seatIn(e)]
			r.holds(!before || e.At-last >= leastSpacing, where{rule: "L5", at: e.At}, "%s asks for two rounds of %s within %v", e.Member, e.Group, e.At-last)
			asked[seatIn(e)] = e.At
		case strings.Contains(e.Text, "lost"):
			g := r.story.groups[e.Group]
			r.holds(r.story.disturbedBy(e.Member, e.At-g.SessionTimeout, e.At, aftermath) != nil, where{rule: "L5", at: e.At}, "%s has lost its membership of %s, and nothing has happened to it: %s", e.Member, e.Group, e.Err)
		}
	}
}

// reason is why a group may have a new generation within a time.
type reason struct {
	group    string // "" for all
	from, to time.Duration
}

type reasons []reason

func (l reasons) explain(e ledger.Event) bool {
	return slices.ContainsFunc(l, func(r reason) bool {
		return (r.group == "" || r.group == e.Group) && r.from <= e.At && e.At <= r.to
	})
}

// reasons are the comings and goings of members, by their processes and by the ends of their sessions, and those that the brokers have to
// take for gone. What disturbs the brokers explains nothing by itself: a group whose members keep their sessions keeps its generation.
func (s *story) reasons() (list reasons) {
	var round, session, stop time.Duration // the longest of all groups
	for _, g := range s.header.Groups {
		round, session, stop = max(round, g.RebalanceTimeout+comesUp), max(session, g.SessionTimeout), max(stop, g.StopGrace)
	}
	for _, e := range s.events {
		switch {
		case e.Kind == ledger.Spawned:
			list = append(list, reason{"", e.At, e.At + round})
		case e.Kind == ledger.Stopping:
			list = append(list, reason{"", e.At, e.At + stop + round})
		case e.Kind == ledger.Gone && e.Text == "stopped":
			list = append(list, reason{"", e.At, e.At + round})
		case e.Kind == ledger.Gone:
			list = append(list, reason{"", e.At, e.At + session + round})
		case e.Kind == ledger.Session && ofItsOwn(e):
			list = append(list, reason{e.Group, e.At - heardLate, e.At + round})
		}
	}
	for _, f := range s.faults {
		if f.class == ledger.OfMember && (f.end == far || f.end-f.begin >= session) {
			list = append(list, reason{"", f.begin, min(f.end, far-round) + round})
		}
	}
	return list
}

// ofItsOwn says that a session has ended for a reason of the member's, and not because others had begun a round.
func ofItsOwn(e ledger.Event) bool {
	return e.Text != "rebalance" || strings.Contains(e.Err, asksAgain) || strings.Contains(e.Err, hasGrown)
}
