package strategy

import "github.com/evenkeel-go/evenkeel/internal/assign"

// lead is what a member remembers of the latest round that it has led, to vouch for it in the next one: see [assign.Plan.Vouch].
//
// Generations alone do not tell that nobody has led a round since. A group that was deleted counts from the beginning, and a coordinator
// that takes over counts on from what the one before has stored, which it does with an assignment: others may have led rounds of the same
// numbers. But a round in which the member takes part costs it a join, and one without it its membership (a static one's when its session
// timeout is over): then it has another id. So what is remembered counts for the first join after it, under the same id.
type lead struct {
	latest assign.Led
	under  string // the member's id there
	owner  uint64 // as the member's latest report says, by which it finds itself among the members
	joins  int    // since latest
}

// join hears of each try to join, whatever comes of it.
func (l *lead) join(owner uint64) {
	l.owner = owner
	l.joins++
}

// next begins a round that the member leads, and returns what it can vouch for.
func (l *lead) next(members []assign.Member) (led assign.Led) {
	id := self(members, l.owner)
	if l.joins == 1 && id != "" && id == l.under {
		led = l.latest
	}
	l.under = id
	return led
}

// made hears of the generation that the round has made.
func (l *lead) made(led assign.Led) { l.latest, l.joins = led, 0 }

// self is the id of the member with this owner id. It is empty where there is none, or another one: the member may be there twice, under the
// id that it has lost too.
func self(members []assign.Member, owner uint64) (id string) {
	for _, m := range members {
		if m.Report == nil || m.Report.Owner != owner {
			continue
		}
		if id != "" {
			return ""
		}
		id = m.ID
	}
	return id
}
