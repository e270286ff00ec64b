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
