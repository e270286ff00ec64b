package assign_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// In these tests a member is written as what it says of topic "a".

func says(id string, r assign.Report) assign.Member {
	r.Owner = uint64(id[0])
	r.Stamps = true
	return assign.Member{ID: id, Topics: []string{"a"}, Report: &r}
}

func holding(m assign.Member, numbers ...int32) assign.Member {
	m.Held = a(numbers...)
	return m
}

func a(numbers ...int32) assign.Partitions { return assign.Partitions{"a": numbers} }

func decide(t *testing.T, partitions int, members ...assign.Member) *assign.Plan {
	t.Helper()
	return check(t, members, a(numbers(partitions)...))
}

func wantAssigned(t *testing.T, p *assign.Plan, id string, want ...int32) {
	t.Helper()
	if got := p.Shares[id].Assigned["a"]; !slices.Equal(got, want) {
		t.Errorf("%s gets %v, want %v", id, got, want)
	}
}

func wantMarked(t *testing.T, p *assign.Plan, id string, want ...int32) {
	t.Helper()
	if got := p.Shares[id].HandOver["a"]; !slices.Equal(got, want) {
		t.Errorf("%s is to hand over %v, want %v", id, got, want)
	}
}

func wantStopped(t *testing.T, p *assign.Plan, id string, want ...int32) {
	t.Helper()
	if got := p.Shares[id].Stop["a"]; !slices.Equal(got, want) {
		t.Errorf("%s is to stop %v, want %v", id, got, want)
	}
}

// E5: a member whose join got no answer has given up its claims, and its tasks run on. It may be asked to hand over, and no more.
func TestE5BusyIsInviolable(t *testing.T) {
	p := decide(t, 4, says("A", assign.Report{Generation: 3, Busy: a(0, 1, 2, 3)}), says("B", assign.Report{}))
	wantAssigned(t, p, "A", 0, 1, 2, 3)
	wantAssigned(t, p, "B")
	wantMarked(t, p, "A", 2, 3)
}

// E6: after a session restart sarama reports no owned partitions, also under the cooperative protocol.
func TestE6TasksOfAMemberWithoutASessionStay(t *testing.T) {
	restarted := says("B", assign.Report{Generation: 3, Busy: a(0, 1), Owned: a(2)})
	p := decide(t, 6, restarted, says("C", assign.Report{}), holding(says("D", assign.Report{Generation: 3}), 3, 4, 5))
	wantAssigned(t, p, "B", 0, 1)
	if !slices.Contains(append(p.Shares["C"].Assigned["a"], p.Shares["D"].Assigned["a"]...), 2) {
		t.Error("an idle partition whose claim has ended is withheld for nobody's sake")
	}
}

// E15: the extra member that only causes a round.
func TestE15AGhostGetsNothingAndDoesNotCount(t *testing.T) {
	p := decide(t, 4, says("A", assign.Report{Generation: 3, Owned: a(0, 1, 2, 3)}), says("G", assign.Report{Ghost: true}))
	wantAssigned(t, p, "A", 0, 1, 2, 3)
	if share, ok := p.Shares["G"]; !ok || share.Assigned != nil || p.Assignment("G", 4).Members != 1 {
		t.Errorf("%+v, %+v", p.Shares, p.Assignment("G", 4))
	}
}

// A member that has come back under another id is one member, not two.
func TestE15TheOlderOneOfTwiceTheSameOwnerIsAGhost(t *testing.T) {
	before := says("A", assign.Report{Generation: 2, Owned: a(0, 1)})
	after := says("B", assign.Report{Generation: 3, Owned: a(0, 1)})
	after.Report.Owner = before.Report.Owner
	p := decide(t, 2, before, after)
	wantAssigned(t, p, "B", 0, 1)
	before.Report.Generation, before.Report.Requests = 3, 1
	p = decide(t, 2, before, after)
	wantAssigned(t, p, "A", 0, 1)
}

// E3: a member that missed a round still reports what others have had since.
func TestE3TheHigherGenerationOwns(t *testing.T) {
	missed := holding(says("A", assign.Report{Generation: 2, Busy: a(0)}), 0)
	p := decide(t, 1, missed, says("B", assign.Report{Generation: 3, Owned: a(0)}))
	wantAssigned(t, p, "B", 0)
	wantMarked(t, p, "B")
	p = decide(t, 1, missed, says("B", assign.Report{Generation: 3, Busy: a(0)}))
	wantAssigned(t, p, "B", 0)
	wantStopped(t, p, "B")
}

// E2: nobody can tell whose it is. One that runs a task keeps the partition, so that one task less is lost, and has to begin it again:
// it may have been another's in between.
func TestE2OfEqualGenerationsNobodyGoesOn(t *testing.T) {
	idle, busy := says("A", assign.Report{Generation: 3, Owned: a(0)}), says("B", assign.Report{Generation: 3, Busy: a(0)})
	p := decide(t, 1, idle, busy)
	wantAssigned(t, p, "B", 0)
	wantStopped(t, p, "B", 0)
	p = decide(t, 1, busy, says("C", assign.Report{Generation: 3, Busy: a(0)}))
	wantAssigned(t, p, "B", 0)
	wantStopped(t, p, "B", 0)
	wantAssigned(t, p, "C")
	p = decide(t, 1, idle, says("C", assign.Report{Generation: 3, Owned: a(0)}))
	wantAssigned(t, p, "A", 0)
	wantStopped(t, p, "A")
}

// E20: a static member that does not join stays in the group with the report of a round before. What it runs now nobody knows.
func TestE20WhatAStaleReportOwnsCountsAsBusy(t *testing.T) {
	p := decide(t, 4, says("A", assign.Report{Generation: 5}), says("B", assign.Report{Generation: 4, Owned: a(0, 1, 2, 3)}))
	wantAssigned(t, p, "B", 0, 1, 2, 3)
	wantMarked(t, p, "B", 2, 3)
	p = decide(t, 4, says("A", assign.Report{Generation: 5, Owned: a(1)}), says("B", assign.Report{Generation: 4, Owned: a(0, 1, 2)}))
	wantAssigned(t, p, "A", 1, 3)
}

// A member that was cut off, and is back, reports what it owned then. It runs nothing, and gets its share.
func TestE20WhatAStaleReportOwnsHoldsNothingUpElsewhere(t *testing.T) {
	back := says("A", assign.Report{Generation: 5, Owned: a(0, 1, 2, 3)})
	wantAssigned(t, decide(t, 4, back, says("B", assign.Report{Generation: 6, Owned: a(0, 1, 2, 3)})), "A", 2, 3)
	p := decide(t, 4, back, holding(says("B", assign.Report{Generation: 6}), 0, 1, 2, 3))
	wantAssigned(t, p, "B", 0, 1)
	if len(p.Withheld) != 2 {
		t.Errorf("withheld %v", p.Withheld)
	}
}

// E21: the topic of one member is gone. The others go on.
func TestE21AMissingTopicStopsNobody(t *testing.T) {
	a, b := says("A", assign.Report{}), says("B", assign.Report{Generation: 2, Owned: assign.Partitions{"gone": {0, 1}, "a": {0}}})
	b.Topics, b.Held = []string{"a", "gone"}, assign.Partitions{"gone": {0}, "never": {1}}
	for _, topics := range []assign.Partitions{{"a": {0, 1}}, {"a": {0, 1}, "gone": nil}, {"a": {0, 1}, "gone": {}}} {
		p := check(t, []assign.Member{a, b}, topics)
		wantAssigned(t, p, "A", 1)
		wantAssigned(t, p, "B", 0)
	}
}

// S5: the leader's own protocol says nothing of how another member gives a partition up.
func TestS5WithheldWhereTheOwnerHasAClaim(t *testing.T) {
	cooperative := holding(says("A", assign.Report{Generation: 3}), 0, 1)
	p := decide(t, 2, cooperative, says("B", assign.Report{}))
	wantAssigned(t, p, "A", 0)
	wantAssigned(t, p, "B")
	if want := []assign.Move{{Topic: "a", Partition: 1, From: "A", To: "B"}}; !slices.Equal(p.Withheld, want) || p.Moved != nil {
		t.Errorf("withheld %v, moved %v", p.Withheld, p.Moved)
	}
	p = decide(t, 2, says("A", assign.Report{Generation: 3, Owned: a(0, 1)}), says("B", assign.Report{}))
	wantAssigned(t, p, "B", 1)
	if want := []assign.Move{{Topic: "a", Partition: 1, From: "A", To: "B"}}; !slices.Equal(p.Moved, want) || p.Withheld != nil {
		t.Errorf("moved %v, withheld %v", p.Moved, p.Withheld)
	}
}

// A claim to a topic that the member has left is waited for as well.
func TestS5WithheldWhereTheSubscriptionHasChanged(t *testing.T) {
	left := says("A", assign.Report{Generation: 3})
	left.Topics, left.Held = []string{"b"}, a(0)
	p := check(t, []assign.Member{left, says("B", assign.Report{Generation: 3})}, assign.Partitions{"a": {0}, "b": {0}})
	if want := []assign.Move{{Topic: "a", From: "A", To: "B"}}; !slices.Equal(p.Withheld, want) {
		t.Errorf("withheld %v", p.Withheld)
	}
}

// S3: data that says nothing makes an idle member of its sender, which owns what its subscription says.
func TestS3AMemberWithoutAReportIsIdle(t *testing.T) {
	unknown := assign.Member{ID: "A", Topics: []string{"a"}, Generation: 3, Held: a(0, 1)}
	p := decide(t, 4, unknown, says("B", assign.Report{Generation: 4, Busy: a(2, 3)}), says("C", assign.Report{}))
	wantAssigned(t, p, "A", 0)
	if len(p.Withheld) != 1 || p.Withheld[0].To != "C" {
		t.Errorf("withheld %v", p.Withheld)
	}
	unknown.Generation = -1 // of an old client
	p = decide(t, 2, unknown)
	wantAssigned(t, p, "A", 0, 1)
}

// E18: a report that was too long to tell what is busy.
func TestE18WhatIsCutShortCountsAsBusy(t *testing.T) {
	p := decide(t, 4, holding(says("A", assign.Report{Generation: 3, CutShort: true, Busy: a(0)}), 0, 1, 2, 3), says("B", assign.Report{}))
	wantAssigned(t, p, "A", 0, 1, 2, 3)
	wantMarked(t, p, "A", 2, 3)
}

// E19: also to a member that gets nothing.
func TestE19EachMemberIsTold(t *testing.T) {
	p := decide(t, 1, says("A", assign.Report{}), says("B", assign.Report{}), says("G", assign.Report{Ghost: true}))
	for _, id := range []string{"A", "B", "G"} {
		if _, ok := p.Shares[id]; !ok || len(p.Assignment(id, 1).Encode(nil)) == 0 {
			t.Errorf("nothing for %s", id)
		}
	}
}

// E22: a quota of ceil(n/m) leaves 3/3/1.
func TestE22EachHasTheFloorOrTheCeilingOfItsShare(t *testing.T) {
	p := decide(t, 7, says("A", assign.Report{Generation: 3, Owned: a(0, 1)}),
		says("B", assign.Report{Generation: 3, Owned: a(2, 3, 4, 5, 6)}), says("C", assign.Report{}))
	wantAssigned(t, p, "A", 0, 1)
	wantAssigned(t, p, "B", 2, 3, 4) // the ceiling is for the one that has most: it has less to move
	wantAssigned(t, p, "C", 5, 6)
}

// What is left over goes to the first ones, so that all leaders say the same.
func TestTheFirstOfEqualsIsTaken(t *testing.T) {
	p := decide(t, 2, says("A", assign.Report{}), says("B", assign.Report{}), says("C", assign.Report{}))
	wantAssigned(t, p, "A", 0)
	wantAssigned(t, p, "B", 1)
}

func TestDecideChangesNothingOfWhatItIsGiven(t *testing.T) {
	m := assign.Member{ID: "A", Topics: []string{"b", "a", "a"}, Held: a(0, 0, 1), Report: &assign.Report{Busy: a(1, 1, 2)}}
	topics := a(0, 0, 1, 2)
	decide := []assign.Member{{ID: "B"}, m}
	assign.Decide(decide, topics)
	want := assign.Member{ID: "A", Topics: []string{"b", "a", "a"}, Held: a(0, 0, 1), Report: &assign.Report{Busy: a(1, 1, 2)}}
	if !reflect.DeepEqual(decide[1], want) || !reflect.DeepEqual(topics, a(0, 0, 1, 2)) {
		t.Errorf("%+v, %v", decide, topics)
	}
}

// S4: a leader that cannot plan leaves the group without a plan, is leader again, and again cannot.
func TestS4APanicLeavesAllWhereItIs(t *testing.T) {
	members := []assign.Member{
		holding(says("A", assign.Report{Generation: 3, Busy: a(2)}), 0), says("B", assign.Report{Generation: 3, Owned: a(0, 1), Busy: a(0)}),
		says("C", assign.Report{Draining: true, Owned: a(3)}), says("G", assign.Report{Ghost: true}),
		{ID: "X", Topics: []string{"b"}, Held: a(4)},
	}
	topics := assign.Partitions{"a": {5, 4, 3, 2, 1, 0}, "b": {0}, "c": {0}}
	p := assign.DecideBy(func([]assign.Member, assign.Partitions) *assign.Plan { panic("a fault") }, members, topics)
	if p.Failure != "a fault" {
		t.Errorf("failure: %v", p.Failure)
	}
	wantAssigned(t, p, "A", 2)
	wantAssigned(t, p, "B", 0, 1, 5)
	wantAssigned(t, p, "C", 3)
	wantAssigned(t, p, "G")
	if !p.Shares["C"].Drained || !reflect.DeepEqual(p.Shares["X"].Assigned, assign.Partitions{"b": {0}}) || len(p.Shares) != 5 {
		t.Errorf("%+v", p.Shares)
	}
	if !reflect.DeepEqual(p.Unserved, assign.Partitions{"c": {0}}) || p.Assignment("A", 4).StampedSince != 0 {
		t.Errorf("unserved %v, %+v", p.Unserved, p.Assignment("A", 4))
	}
}
