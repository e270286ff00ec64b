package schedule_test

import (
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

func TestRingServesInTurn(t *testing.T) {
	var r schedule.Ring[string]
	for _, e := range []string{"a", "b", "c"} {
		r.Push(e)
	}
	if !r.Remove("b") || r.Remove("b") || r.Remove("x") {
		t.Error("b is not taken out once, or x is")
	}
	for _, want := range []string{"a", "c"} {
		if got, ok := r.Pop(); got != want || !ok {
			t.Errorf("popped %q, %v, want %q", got, ok, want)
		}
	}
	if got, ok := r.Pop(); ok || got != "" || r.Len() != 0 {
		t.Errorf("popped %q from an empty ring", got)
	}
}

// FuzzRing compares with a slice. Each byte is an operation.
func FuzzRing(f *testing.F) {
	f.Add([]byte("pushing, popping, removing"))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 64, 64, 0, 0, 130, 200})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var r schedule.Ring[int]
		var model []int
		next := 0
		for _, op := range ops[:min(len(ops), 500)] {
			switch op / 64 {
			case 0, 1:
				r.Push(next)
				model = append(model, next)
				next++
			case 2:
				got, ok := r.Pop()
				if ok != (len(model) > 0) || ok && got != model[0] {
					t.Fatalf("popped %d, %v of %v", got, ok, model)
				}
				model = model[min(1, len(model)):]
			case 3:
				e := next - 1 - int(op%64)
				i := slices.Index(model, e)
				if r.Remove(e) != (i >= 0) {
					t.Fatalf("removed %d of %v: %v", e, model, i < 0)
				}
				if i >= 0 {
					model = slices.Delete(model, i, i+1)
				}
			}
			if r.Len() != len(model) {
				t.Fatalf("%d in the ring, want %d", r.Len(), len(model))
			}
		}
	})
}
