package assign_test

import (
	"reflect"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// I1: a leader that moves a partition past the limit starts a task while the old one still runs.
func TestI1PastTheLimitTheOwnerStops(t *testing.T) {
	p := decide(t, 4, says("A", assign.Report{Generation: 3, Busy: a(0, 1, 2, 3), Marked: a(0, 3), Over: a(0, 1)}), says("B", assign.Report{}))
	wantAssigned(t, p, "A", 0, 1, 2, 3)
	wantMarked(t, p, "A", 0, 3)
	wantStopped(t, p, "A", 0) // 1 has time: it need not go
}

// A mark on a task past the limit would stop it at once: others come first.
func TestI1TasksWithinTheLimitAreMarkedFirst(t *testing.T) {
	p := decide(t, 4, says("A", assign.Report{Generation: 3, Busy: a(0, 1, 2, 3), Over: a(2, 3)}), says("B", assign.Report{}))
	wantMarked(t, p, "A", 0, 1)
	wantStopped(t, p, "A")
}

// A task that does not return is waited for in vain: the partition stays, and another one goes in its place.
func TestI1StuckPartitionsAreNotMarked(t *testing.T) {
	stuck := assign.Report{Generation: 3, Busy: a(0, 1, 2, 3), Marked: a(2, 3), Over: a(3), Stuck: a(3)}
	p := decide(t, 4, says("A", stuck), says("B", assign.Report{}))
	wantAssigned(t, p, "A", 0, 1, 2, 3)
	wantMarked(t, p, "A", 1, 2)
	stuck.Draining = true
	p = decide(t, 4, says("A", stuck), says("B", assign.Report{}))
	wantMarked(t, p, "A", 0, 1, 2)
	wantStopped(t, p, "A")
}

// A partition on which another one's task still runs stays whatever its idle owner does: a mark would have it ask for a round in vain. One
// on which both run tasks is marked, for the other task may end first.
func TestI1AnIdleOwnerIsNotAskedForWhatAnotherOnesTaskHolds(t *testing.T) {
	owner := assign.Report{Generation: 3, Owned: a(3), Busy: a(0, 1, 2), Marked: a(2, 3), Over: a(3)}
	lost := says("B", assign.Report{Generation: 2, Busy: a(3)})
	p := decide(t, 4, says("A", owner), lost)
	wantAssigned(t, p, "A", 0, 1, 2, 3)
	wantMarked(t, p, "A", 1, 2)
	wantStopped(t, p, "A")
	owner.Draining = true
	wantMarked(t, decide(t, 4, says("A", owner), lost), "A", 0, 1, 2)
	owner.Draining, owner.Busy, owner.Over = false, a(0, 1, 2, 3), nil
	wantMarked(t, decide(t, 4, says("A", owner), lost), "A", 2, 3)
}

// I5: marks that change from round to round starve whoever waits.
func TestI5MarksAreSticky(t *testing.T) {
	p := decide(t, 6, says("A", assign.Report{Generation: 3, Busy: a(0, 1, 2, 3, 4, 5), Marked: a(0, 2, 4)}), says("B", assign.Report{}))
	wantMarked(t, p, "A", 0, 2, 4)
	p = decide(t, 6, says("A", assign.Report{Generation: 3, Busy: a(0, 1, 2, 3, 4, 5), Marked: a(0, 2, 4)}),
		says("B", assign.Report{}), says("C", assign.Report{}))
	wantMarked(t, p, "A", 0, 2, 4, 5)
}

// I5: where either of two may give the last one, it is the one that has been told so.
func TestI5MarksDecideBetweenEquals(t *testing.T) {
	first, second := says("A", assign.Report{Generation: 3, Busy: a(0, 1, 2)}), says("B", assign.Report{Generation: 3, Busy: a(3, 4, 5)})
	newcomer := says("C", assign.Report{Generation: 3, Busy: a(6)})
	p := decide(t, 7, first, second, newcomer)
	wantMarked(t, p, "A", 2)
	second.Report.Marked = a(4)
	p = decide(t, 7, first, second, newcomer)
	wantMarked(t, p, "A")
	wantMarked(t, p, "B", 4)
}

// I5: what has been marked and is idle now goes before what merely has no task at this moment.
func TestI5MarkedPartitionsGoFirst(t *testing.T) {
	p := decide(t, 4, says("A", assign.Report{Generation: 3, Owned: a(0, 1, 2, 3), Marked: a(0, 1)}), says("B", assign.Report{}))
	wantAssigned(t, p, "A", 2, 3)
	wantAssigned(t, p, "B", 0, 1)
}

func TestI5AMarkEndsWhereNothingHasToGo(t *testing.T) {
	p := decide(t, 2, says("A", assign.Report{Generation: 3, Owned: a(0), Busy: a(1), Marked: a(0, 1)}))
	wantAssigned(t, p, "A", 0, 1)
	wantMarked(t, p, "A")
}

// E8: the process that takes a drained static member's place gets its old assignment, and can tell from it that it has to ask.
func TestE8ADrainedMemberIsTold(t *testing.T) {
	p := decide(t, 2, says("A", assign.Report{Generation: 3, Draining: true}), says("B", assign.Report{Generation: 3, Owned: a(0, 1)}))
	if drained, other := p.Assignment("A", 4), p.Assignment("B", 4); !drained.Drained || other.Drained {
		t.Errorf("%+v, %+v", drained, other)
	}
}

func TestADrainingMemberGivesUpWhatIsIdleAndMarksTheRest(t *testing.T) {
	p := decide(t, 5, says("A", assign.Report{Generation: 3, Owned: a(0, 1), Busy: a(2), Draining: true}),
		says("B", assign.Report{Generation: 3, Busy: a(3, 4)}), says("C", assign.Report{}))
	wantAssigned(t, p, "A", 2)
	wantMarked(t, p, "A", 2)
	wantAssigned(t, p, "C", 0, 1)
	wantMarked(t, p, "B") // what A still has goes to those that have least
}

func TestWhatADrainingMemberStillHasCountsForWhoeverGetsIt(t *testing.T) {
	p := decide(t, 8, says("A", assign.Report{Generation: 3, Busy: a(0, 1, 2, 3), Draining: true}),
		says("B", assign.Report{Generation: 3, Busy: a(4, 5, 6, 7)}), says("C", assign.Report{}))
	wantMarked(t, p, "A", 0, 1, 2, 3)
	wantMarked(t, p, "B") // C will have those of A
}

func TestWhereAllDrainAllStays(t *testing.T) {
	p := decide(t, 4, says("A", assign.Report{Generation: 3, Owned: a(0), Busy: a(1), Draining: true}),
		holding(says("B", assign.Report{Generation: 3, Draining: true}), 2))
	wantAssigned(t, p, "A", 0, 1)
	wantAssigned(t, p, "B", 2)
	wantMarked(t, p, "A")
	if !reflect.DeepEqual(p.Unserved, a(3)) {
		t.Errorf("unserved: %v", p.Unserved)
	}
}
