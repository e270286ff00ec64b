package schedule_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

func TestQueueTakesRunsInOrder(t *testing.T) {
	var q schedule.Queue[int]
	q.Push([]int{1, 2, 3, 4, 5})
	q.Push(nil)
	q.Push([]int{6})
	for _, step := range []struct {
		limit int
		want  []int
		left  int
	}{
		{0, nil, 6},
		{-1, nil, 6},
		{2, []int{1, 2}, 4},
		{64, []int{3, 4, 5}, 1}, // never across slabs
		{64, []int{6}, 0},
		{64, nil, 0},
	} {
		if got := q.Take(step.limit); !slices.Equal(got, step.want) || q.Len() != step.left {
			t.Errorf("took %v of %d, left %d, want %v, left %d", got, step.limit, q.Len(), step.want, step.left)
		}
	}
}

func TestQueuePutsBackToTheFront(t *testing.T) {
	var q schedule.Queue[int]
	q.PutBack(nil)
	q.Push([]int{1, 2, 3, 4})
	run := q.Take(3)
	q.PutBack(run[1:])
	q.PutBack([]int{0})
	for _, want := range [][]int{{0}, {2, 3}, {4}} {
		if got := q.Take(9); !slices.Equal(got, want) {
			t.Errorf("took %v, want %v", got, want)
		}
	}
}

// What is dropped is not kept alive by a run of the same slab.
func TestClearedQueueForgetsWhatARunKeeps(t *testing.T) {
	var q schedule.Queue[int]
	slab := []int{1, 2, 3, 4, 5}
	q.Push(slab)
	run := q.Take(3)
	q.PutBack(run[1:])
	q.PutBack([]int{9})
	if n := q.Clear(); n != 5 || q.Len() != 0 {
		t.Errorf("cleared %d, left %d", n, q.Len())
	}
	if !slices.Equal(slab, []int{1, 0, 0, 0, 0}) {
		t.Errorf("the slab still has %v", slab)
	}
}

// A run is the runner's own: what is appended to it does not reach into what is still queued.
func TestQueueRunsDoNotReachIntoEachOther(t *testing.T) {
	var q schedule.Queue[int]
	q.Push([]int{1, 2, 3})
	_ = append(q.Take(1), 99)
	if got := q.Take(2); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("took %v", got)
	}
}

// A queue that never runs empty does not carry along what was taken.
func TestQueueMemoryIsBounded(t *testing.T) {
	var q schedule.Queue[int]
	for range 10 {
		q.Push([]int{0})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100_000 {
		q.Push(one)
		q.Take(1)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 100_000 || q.Len() != 10 {
		t.Errorf("%d bytes allocated for 100,000 messages, %d queued", n, q.Len())
	}
}

// one is a slab that costs no allocation in a test.
var one = []int{0}

// A queue that is emptied again and again does not allocate for it.
func TestEmptiedQueueAllocatesNothing(t *testing.T) {
	var q schedule.Queue[int]
	if allocs := testing.AllocsPerRun(1000, func() {
		q.Push(one)
		q.PutBack(q.Take(1))
		q.Take(1)
	}); allocs > 0 {
		t.Errorf("%v allocations for each message", allocs)
	}
}

// FuzzQueue compares with a slice of slabs. Each byte is an operation.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{5, 70, 9, 140, 64, 200, 255, 1, 2})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var q schedule.Queue[int]
		var model [][]int
		var taken []int // the last run, which may be put back from some index on
		next := 0
		for _, op := range ops[:min(len(ops), 200)] {
			n := int(op % 64)
			switch op / 64 {
			case 0:
				slab := make([]int, n)
				for i := range slab {
					slab[i] = next
					next++
				}
				q.Push(slab)
				if n > 0 {
					model = append(model, slices.Clone(slab))
				}
				taken = nil
			case 1:
				var want []int
				model, want = takeFrom(model, n)
				taken = q.Take(n)
				if !slices.Equal(taken, want) {
					t.Fatalf("took %v, want %v", taken, want)
				}
			case 2:
				rest := taken[min(n, len(taken)):]
				q.PutBack(rest)
				if len(rest) > 0 {
					model = slices.Insert(model, 0, slices.Clone(rest))
				}
				taken = nil
			case 3:
				if n == 63 {
					if got := q.Clear(); got != total(model) {
						t.Fatalf("cleared %d, want %d", got, total(model))
					}
					model, taken = nil, nil
				}
			}
			if q.Len() != total(model) {
				t.Fatalf("%d queued, want %d", q.Len(), total(model))
			}
		}
	})
}

func takeFrom(model [][]int, limit int) (rest [][]int, run []int) {
	if len(model) == 0 || limit < 1 {
		return model, nil
	}
	k := min(limit, len(model[0]))
	run = model[0][:k]
	if k == len(model[0]) {
		return model[1:], run
	}
	model[0] = model[0][k:]
	return model, run
}

func total(model [][]int) (n int) {
	for _, slab := range model {
		n += len(slab)
	}
	return n
}
