package nemesis

import (
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/chaos/fleet"
)

// Who stays when a fleet shrinks follows from the lot, but for a slot that has to stay.
func TestWhoStaysWhenTheFleetShrinks(t *testing.T) {
	a, b, c, extra := &fleet.Slot{Name: "A"}, &fleet.Slot{Name: "B"}, &fleet.Slot{Name: "C"}, &fleet.Slot{Name: "D"}
	f := &fleet.Fleet{Slots: []*fleet.Slot{a, b, c}, Extra: []*fleet.Slot{extra}}
	for _, test := range []struct {
		keep *fleet.Slot
		want []*fleet.Slot
	}{
		{nil, []*fleet.Slot{b, c, a, extra}},
		{a, []*fleet.Slot{a, b, c, extra}},
	} {
		w := &World{Fleet: f, Keep: test.keep}
		if got := w.inOrder(Step{Lot: 4}); !slices.Equal(got, test.want) {
			t.Errorf("got %v, want %v", got, test.want)
		}
	}
}

// A fault that needs all slots waits for them, or leaves all of them alone.
func TestAllSlotsOrNone(t *testing.T) {
	w := &World{Fleet: &fleet.Fleet{Slots: []*fleet.Slot{{Name: "A"}, {Name: "B"}}}}
	second := w.Fleet.Slots[1]
	second.Take()
	if w.takeAll(t.Context(), Step{}) {
		t.Fatal("took a slot that another fault has")
	}
	taken := make(chan bool)
	go func() { taken <- w.takeAll(t.Context(), Step{Patient: true}) }() // ends when the slot is free
	second.Free()
	if !<-taken {
		t.Error("a patient fault did not wait")
	}
	w.freeAll()
	if !w.takeAll(t.Context(), Step{}) {
		t.Error("the slots were not given back")
	}
}

// The process whose memory is watched over hours is ended by nothing.
func TestASlotThatHasToStayIsNotMortal(t *testing.T) {
	a, b := &fleet.Slot{Name: "A"}, &fleet.Slot{Name: "B"}
	w := &World{Fleet: &fleet.Fleet{Slots: []*fleet.Slot{a, b}}}
	if got := w.mortal(); !slices.Equal(got, []*fleet.Slot{a, b}) {
		t.Errorf("without one: %v", got)
	}
	w.Keep = a
	if got := w.mortal(); !slices.Equal(got, []*fleet.Slot{b}) || len(w.Fleet.Slots) != 2 {
		t.Errorf("with one: %v of %v", got, w.Fleet.Slots)
	}
}
