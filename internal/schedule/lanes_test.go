package schedule_test

import (
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

type items = []*schedule.Item[int]

// pushAll gives each value to the lane of its key; values count up.
func pushAll(l *schedule.Lanes[int], keys ...uint64) {
	for i, k := range keys {
		l.Push(&schedule.Item[int]{Value: i}, k)
	}
}

// take returns the values of a run.
func take(l *schedule.Lanes[int], most, lanes int) (values []int, run items) {
	run = make(items, most)
	run = run[:l.Take(run, lanes)]
	for _, it := range run {
		values = append(values, it.Value)
	}
	return values, run
}

func TestAKeyIsServedInOrderAndOneAtATime(t *testing.T) {
	l := schedule.NewLanes[int](1)
	pushAll(l, 7, 7, 9, 7, 0, 0)
	got, run := take(l, 2, 1)
	if !slices.Equal(got, []int{0, 1}) || l.Ready() != 3 || l.Len() != 4 {
		t.Fatalf("first run %v, %d lanes ready, %d waiting", got, l.Ready(), l.Len())
	}
	l.End(run[0])
	if got, _ := take(l, 9, 9); !slices.Equal(got, []int{2, 4, 5}) {
		t.Errorf("while key 7 is out %v start", got)
	}
	l.End(run[1])
	if got, _ := take(l, 9, 9); !slices.Equal(got, []int{3}) {
		t.Errorf("after key 7 has ended %v start", got)
	}
}

// A key with many messages goes to the end of the line when it has been served.
func TestAHotKeyStarvesNobody(t *testing.T) {
	l := schedule.NewLanes[int](1)
	pushAll(l, 1, 1, 1, 1, 1, 2, 3)
	var got []int
	for range 4 {
		values, run := take(l, 1, 1)
		l.End(run[0])
		got = append(got, values...)
	}
	if !slices.Equal(got, []int{0, 5, 6, 1}) {
		t.Errorf("served %v, want each key once in turn", got)
	}
}

func TestLanesOfAWidthRunBesideEachOther(t *testing.T) {
	l := schedule.NewLanes[int](2)
	pushAll(l, 1, 1, 1)
	first, run := take(l, 9, 1)
	second, _ := take(l, 9, 9)
	if !slices.Equal(first, []int{0}) || !slices.Equal(second, []int{1}) || l.Ready() != 0 {
		t.Fatalf("took %v and %v, %d ready", first, second, l.Ready())
	}
	l.End(run[0])
	if got, _ := take(l, 9, 9); !slices.Equal(got, []int{2}) {
		t.Errorf("then %v", got)
	}
}

// What is put back comes first, and a failed element holds its key until it is there again.
func TestWhatIsPutBackComesFirst(t *testing.T) {
	l := schedule.NewLanes[int](1)
	pushAll(l, 1, 1, 1, 2)
	_, run := take(l, 3, 1)
	l.PutBack(run[2])
	l.PutBack(run[1])
	if got, _ := take(l, 9, 1); !slices.Equal(got, []int{3}) {
		t.Fatalf("while the first one is out %v start", got)
	}
	l.Again(run[0], &schedule.Item[int]{Value: 100})
	if got, _ := take(l, 9, 1); !slices.Equal(got, []int{100, 1, 2}) {
		t.Errorf("then %v", got)
	}
}

// What was taken and has not started is as if it had never been taken.
func TestWhatIsPutBackKeepsItsPlace(t *testing.T) {
	l := schedule.NewLanes[int](1)
	pushAll(l, 0, 0, 1, 0, 2, 3)
	_, run := take(l, 4, 4)
	for _, it := range slices.Backward(run) {
		l.PutBack(it)
	}
	if got, _ := take(l, 9, 9); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("then %v", got)
	}
}

// What is tried again and what waits take turns: neither holds up the other, with keys and without.
func TestRetriesTakeTurnsWithTheOthers(t *testing.T) {
	for _, keys := range [][]uint64{{1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}} {
		l := schedule.NewLanes[int](1)
		pushAll(l, keys...)
		var got []int
		for range 9 {
			values, run := take(l, 1, 1)
			if got = append(got, values...); run[0].Value < 2 { // these fail always
				l.Again(run[0], &schedule.Item[int]{Value: run[0].Value})
			} else {
				l.End(run[0])
			}
		}
		if want := []int{0, 0, 1, 0, 2, 1, 3, 0, 4}; !slices.Equal(got, want) {
			t.Errorf("keys %v: served %v, want %v", keys, got, want)
		}
	}
}

// What has started elsewhere holds its key.
func TestAHeldKeyWaits(t *testing.T) {
	l := schedule.NewLanes[int](1)
	var held schedule.Item[int]
	l.Hold(&held, 1)
	pushAll(l, 1, 2)
	if got, _ := take(l, 9, 9); !slices.Equal(got, []int{1}) {
		t.Fatalf("while key 1 is held %v start", got)
	}
	l.End(&held)
	if got, _ := take(l, 9, 9); !slices.Equal(got, []int{0}) {
		t.Errorf("then %v", got)
	}
}

func TestClearDropsWhatWaits(t *testing.T) {
	l := schedule.NewLanes[int](1)
	pushAll(l, 1, 1, 2, 0)
	_, run := take(l, 1, 1)
	l.Clear()
	if l.Len() != 0 || l.Ready() != 0 {
		t.Fatalf("%d wait, %d lanes ready", l.Len(), l.Ready())
	}
	l.End(run[0])
	pushAll(l, 1, 1, 2, 0)
	if got, _ := take(l, 9, 9); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("afterwards %v", got)
	}
}

func TestLanesAreUsedAgain(t *testing.T) {
	l, run := schedule.NewLanes[int](1), make(items, 8)
	slab := make([]schedule.Item[int], 8)
	key := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		for i := range slab {
			key++
			l.Push(&slab[i], key%64)
		}
		for _, it := range run[:l.Take(run, 8)] {
			l.End(it)
		}
	}); n > 0.1 {
		t.Errorf("%v allocations a round", n)
	}
}
