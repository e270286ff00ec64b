package assign_test

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// E3, and rule 3 of adoption: a member that has missed a generation may go on where the stamp is still its own, if all that were in
// the group since its last assignment stamp. That all do so now proves nothing.
func TestE3SinceWhenAllStamp(t *testing.T) {
	stamps := func(id string, generation, since int32) assign.Member {
		return says(id, assign.Report{Generation: generation, StampedSince: since})
	}
	foreign := assign.Member{ID: "F", Topics: []string{"a"}}
	plain := stamps("P", 6, 3)
	plain.Report.Stamps = false
	ghost := says("G", assign.Report{Ghost: true})
	ghost.Report.Stamps = false
	for _, test := range []struct {
		name    string
		members []assign.Member
		want    int32 // in generation 7
	}{
		{"the first generation that is known", []assign.Member{stamps("A", 0, 0), stamps("B", 0, 0)}, 7},
		{"it goes on", []assign.Member{stamps("A", 6, 3), stamps("B", 6, 3)}, 3},
		{"a newcomer knows nothing, and takes nothing away", []assign.Member{stamps("A", 0, 0), stamps("B", 6, 3)}, 3},
		{"one that missed a generation hears what the others know", []assign.Member{stamps("A", 4, 3), stamps("B", 6, 3)}, 3},
		{"no member tells of the generation before", []assign.Member{stamps("A", 5, 3), stamps("B", 4, 3)}, 7},
		{"not all stamped in the generation before", []assign.Member{stamps("A", 6, 0), stamps("B", 4, 3)}, 7},
		{"two tell different things", []assign.Member{stamps("A", 6, 3), stamps("B", 6, 5)}, 5},
		{"two tell different things, the other one first", []assign.Member{stamps("A", 6, 5), stamps("B", 6, 3)}, 5},
		{"one of them has heard of one that does not", []assign.Member{stamps("A", 6, 0), stamps("B", 6, 5)}, 7},
		{"the other one has", []assign.Member{stamps("A", 6, 5), stamps("B", 6, 0)}, 7},
		{"one that cannot be read", []assign.Member{stamps("A", 6, 3), foreign}, 0},
		{"one that does not stamp", []assign.Member{stamps("A", 6, 3), plain}, 0},
		{"a ghost starts nothing", []assign.Member{stamps("A", 6, 3), ghost}, 3},
		{"nobody", nil, 7},
	} {
		p := check(t, test.members, a(0))
		if got := p.Assignment("A", 7).StampedSince; got != test.want {
			t.Errorf("%s: since %d, want %d", test.name, got, test.want)
		}
	}
}

// E3: what a leader has seen counts as what a report tells, for the generation after it alone.
func TestE3ALeaderVouchesForTheGenerationBefore(t *testing.T) {
	foreign := assign.Member{ID: "F", Topics: []string{"a"}}
	for _, test := range []struct {
		name          string
		led           assign.Led
		newest, since int32 // as a report says
		want          int32 // in generation 7
	}{
		{"nobody has received it", assign.Led{Generation: 6, StampedSince: 2}, 4, 2, 2},
		{"a report says the same", assign.Led{Generation: 6, StampedSince: 2}, 6, 2, 2},
		{"a report says less", assign.Led{Generation: 6, StampedSince: 2}, 6, 5, 5},
		{"a report says nothing of it", assign.Led{Generation: 6, StampedSince: 2}, 6, 0, 7},
		{"one did not stamp there", assign.Led{Generation: 6}, 4, 2, 7},
		{"one did not stamp there, as it says itself", assign.Led{Generation: 6}, 6, 2, 7},
		{"another generation lies between", assign.Led{Generation: 5, StampedSince: 2}, 4, 2, 7},
		{"another generation lies between, and is told of", assign.Led{Generation: 5, StampedSince: 2}, 6, 3, 3},
		{"a report is newer", assign.Led{Generation: 6, StampedSince: 2}, 8, 2, 7},
		{"it is the same generation", assign.Led{Generation: 7, StampedSince: 2}, 4, 2, 2},
		{"it is the same generation, and a report tells of the one before", assign.Led{Generation: 7, StampedSince: 2}, 6, 0, 7},
		{"it is the same generation, and begins anew", assign.Led{Generation: 7}, 6, 2, 2},
		{"it is the same generation, and a report as new", assign.Led{Generation: 7, StampedSince: 2}, 7, 2, 7},
		{"it is a later generation", assign.Led{Generation: 8, StampedSince: 2}, 4, 2, 7},
		{"none", assign.Led{}, 0, 0, 7},
	} {
		one := says("A", assign.Report{Generation: test.newest, StampedSince: test.since})
		p, mixed := check(t, []assign.Member{one}, a(0)), check(t, []assign.Member{one, foreign}, a(0))
		p.Vouch(test.led)
		mixed.Vouch(test.led)
		if got := p.Assignment("A", 7).StampedSince; got != test.want {
			t.Errorf("%s: since %d, want %d", test.name, got, test.want)
		}
		if got := mixed.Assignment("A", 7).StampedSince; got != 0 {
			t.Errorf("%s, and one does not stamp now: since %d", test.name, got)
		}
	}
}

func TestE3AMemberGoesOnWhereAllHaveStampedSinceItsLastAssignment(t *testing.T) {
	for _, test := range []struct {
		since, from int32
		want        bool
	}{{3, 3, true}, {3, 4, true}, {4, 3, false}, {0, 3, false}, {0, 0, false}} {
		if got := (assign.Assignment{StampedSince: test.since}).StampedFrom(test.from); got != test.want {
			t.Errorf("since %d, asked for %d: %v", test.since, test.from, got)
		}
	}
}

// A member joins that does not stamp, runs something in a generation that another one misses, commits nothing and leaves: the stamp in
// the commit is still that of the one that missed it.
func TestE3OneThatDoesNotStampIsRememberedWhenItHasLeft(t *testing.T) {
	g := newGroup(t, a(0, 1))
	p := g.join("a")
	g.calm()
	last := p.at // and then p misses what comes
	foreign := append(g.members(), assign.Member{ID: "F", Topics: []string{"a"}})
	plan := check(t, foreign, g.topics)
	missed := last + 1
	if plan.Assignment("F", missed).StampedFrom(missed) {
		t.Fatal("all stamp, with one that does not")
	}
	if plan = check(t, g.members(), g.topics); plan.Assignment(p.id, missed+1).StampedFrom(missed) {
		t.Error("all have stamped since, without the one that did not")
	}
}
