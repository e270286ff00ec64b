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

// model is lanes the naive way.
type model struct {
	width int
	lanes []*modelLane // in the order of their first element
}

type modelLane struct {
	key   uint64
	waits []int
	out   int
}

func (m *model) of(key uint64) *modelLane {
	for _, l := range m.lanes {
		if l.key == key && key != 0 {
			return l
		}
	}
	l := &modelLane{key: key}
	m.lanes = append(m.lanes, l)
	return l
}

func (m *model) ready() (n int) {
	for _, l := range m.lanes {
		if len(l.waits) > 0 && l.out < m.width {
			n++
		}
	}
	return n
}

// FuzzLanes plays operations on lanes and on the model: never more of a key out than allowed, each element once, in order where the
// width is one, and nothing that may start is withheld.
func FuzzLanes(f *testing.F) {
	f.Add([]byte{1, 10, 20, 30, 200, 201, 100, 101, 150, 102}, uint8(1))
	f.Fuzz(func(t *testing.T, ops []byte, width uint8) {
		w := int(width%3) + 1
		l, m := schedule.NewLanes[int](w), &model{width: w}
		laneOf := map[*schedule.Item[int]]*modelLane{}
		var out items
		next := 0
		for _, op := range ops[:min(len(ops), 200)] {
			switch arg := int(op & 31); op >> 5 {
			case 0, 1, 2:
				it := &schedule.Item[int]{Value: next}
				lane := m.of(uint64(arg % 5))
				lane.waits = append(lane.waits, next)
				laneOf[it] = lane
				l.Push(it, lane.key)
				next++
			case 3, 4:
				run := make(items, arg%4+1)
				run = run[:l.Take(run, arg%3+1)]
				if len(run) == 0 && m.ready() > 0 {
					t.Fatalf("nothing taken of %d lanes", m.ready())
				}
				for i, it := range run {
					lane := laneOf[it]
					together := w == 1 && i > 0 && laneOf[run[i-1]] == lane
					if lane.out >= w && !together || lane.waits[0] != it.Value {
						t.Fatalf("took %d of key %d with %d out, %v waiting", it.Value, lane.key, lane.out, lane.waits)
					}
					lane.waits = lane.waits[1:]
					lane.out++
				}
				out = append(out, run...)
			case 5, 6:
				if len(out) > 0 { // the oldest of a lane ends first, as a runner has it
					l.End(out[0])
					laneOf[out[0]].out--
					out = out[1:]
				}
			default:
				if len(out) > 0 { // the youngest goes back
					it := out[len(out)-1]
					out = out[:len(out)-1]
					lane := laneOf[it]
					lane.out--
					lane.waits = slices.Insert(lane.waits, 0, it.Value)
					l.PutBack(it)
				}
			}
			if l.Ready() != m.ready() {
				t.Fatalf("%d lanes ready, want %d", l.Ready(), m.ready())
			}
		}
	})
}
