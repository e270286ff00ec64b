package offset_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

func deliver(tr *offset.Tracker, offsets ...int64) (fresh []int64) {
	for _, o := range offsets {
		if tr.Deliver(o) {
			fresh = append(fresh, o)
		}
	}
	return fresh
}

func finish(tr *offset.Tracker, offsets ...int64) (finished []int64) {
	for _, o := range offsets {
		if tr.Finish(o) {
			finished = append(finished, o)
		}
	}
	return finished
}

func TestFrontierAndMap(t *testing.T) {
	for _, test := range []struct {
		name     string
		before   offset.Ranges
		deliver  []int64
		finish   []int64
		next     int64
		finished offset.Ranges
	}{
		{name: "nothing", next: 10},
		{name: "none finished", deliver: []int64{10, 11}, next: 10},
		{name: "in order", deliver: []int64{10, 11, 12}, finish: []int64{10, 11}, next: 12},
		{name: "all", deliver: []int64{10, 11, 12}, finish: []int64{12, 10, 11}, next: 13},
		{name: "a hole", deliver: []int64{10, 11, 12}, finish: []int64{11}, next: 10, finished: offset.Ranges{{11, 12}}},
		{name: "two holes", deliver: []int64{10, 11, 12, 13}, finish: []int64{11, 13}, next: 10, finished: offset.Ranges{{11, 12}, {13, 14}}},
		{name: "the log starts late", deliver: []int64{1000}, next: 1000},
		{name: "gap after a finished one", deliver: []int64{10, 11, 90}, finish: []int64{11}, next: 10, finished: offset.Ranges{{11, 90}}},
		{name: "gap after an unfinished one", deliver: []int64{10, 90}, finish: []int64{90}, next: 10, finished: offset.Ranges{{90, 91}}},
		{name: "gap at the frontier", deliver: []int64{10, 90}, finish: []int64{10}, next: 90},
		{name: "before, not delivered", before: offset.Ranges{{12, 14}}, next: 10, finished: offset.Ranges{{12, 14}}},
		{name: "before, at the start", before: offset.Ranges{{10, 14}}, next: 14},
		{name: "before, in disorder", before: offset.Ranges{{20, 25}, {5, 11}, {11, 13}, {21, 22}, {30, 30}}, next: 13, finished: offset.Ranges{{20, 25}}},
		{name: "before, all below", before: offset.Ranges{{2, 9}}, next: 10},
		{name: "before, touches the last one", before: offset.Ranges{{12, 14}}, deliver: []int64{10, 11}, finish: []int64{10, 11}, next: 14},
		{name: "before, joins the last one", before: offset.Ranges{{12, 14}}, deliver: []int64{10, 11}, finish: []int64{11}, next: 10, finished: offset.Ranges{{11, 14}}},
		{name: "before, half delivered", before: offset.Ranges{{12, 14}}, deliver: []int64{10, 11, 12}, next: 10, finished: offset.Ranges{{12, 14}}},
		{name: "before, delivered", before: offset.Ranges{{12, 14}}, deliver: []int64{10, 11, 12, 13, 14}, finish: []int64{10}, next: 11, finished: offset.Ranges{{12, 14}}},
		{name: "before, gone from the log", before: offset.Ranges{{12, 14}}, deliver: []int64{10, 20}, next: 10},
		{name: "before, after a gap", before: offset.Ranges{{12, 14}}, deliver: []int64{10, 12}, finish: []int64{10}, next: 14},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := slices.Clone(test.before)
			tr := offset.New(10, before)
			deliver(tr, test.deliver...)
			if got := finish(tr, test.finish...); !slices.Equal(got, test.finish) {
				t.Errorf("finished %v, want %v", got, test.finish)
			}
			if got := tr.Ranges(); tr.Next() != test.next || !slices.Equal(got, test.finished) {
				t.Errorf("next %d, finished %v, want %d, %v", tr.Next(), got, test.next, test.finished)
			}
			if !slices.Equal(before, test.before) {
				t.Errorf("the caller's ranges became %v", before)
			}
		})
	}
}

// Each message runs once: what was finished before or runs already is not fresh.
func TestDeliverTellsWhatMustNotRun(t *testing.T) {
	tr := offset.New(10, offset.Ranges{{12, 14}, {16, 17}})
	if got, want := deliver(tr, 8, 10, 11, 12, 13, 14, 15, 16, 17), []int64{10, 11, 14, 15, 17}; !slices.Equal(got, want) {
		t.Errorf("fresh %v, want %v", got, want)
	}
	finish(tr, 10, 14)
	if got := deliver(tr, 10, 11, 12, 13, 14, 15, 16, 17, 18); !slices.Equal(got, []int64{18}) {
		t.Errorf("fresh at redelivery: %v", got)
	}
	if tr.Last() != 18 || tr.Unfinished() != 4 || tr.Pending() != 8 {
		t.Errorf("last %d, %d unfinished, %d pending", tr.Last(), tr.Unfinished(), tr.Pending())
	}
}

// A frontier that has passed over what was finished before is not taken back by its redelivery.
func TestFrontierNeverFalls(t *testing.T) {
	tr := offset.New(10, offset.Ranges{{11, 20}, {25, 30}})
	deliver(tr, 10)
	finish(tr, 10)
	for o := int64(10); o < 20; o++ {
		if tr.Next() != 20 || tr.Deliver(o) {
			t.Fatalf("next %d at the redelivery of %d", tr.Next(), o)
		}
	}
	if tr.Next() != 20 || tr.Last() != 19 || tr.Pending() != 0 {
		t.Errorf("next %d, last %d, %d pending", tr.Next(), tr.Last(), tr.Pending())
	}
	if tr.Deliver(26); tr.Next() != 30 { // 20 to 25 do not exist
		t.Errorf("next %d after a gap, want 30", tr.Next())
	}
}

func TestFinishKnowsOnlyWhatRuns(t *testing.T) {
	tr := offset.New(10, offset.Ranges{{12, 13}})
	deliver(tr, 10, 12, 15, 20, 21)
	if got, want := finish(tr, 9, 11, 12, 13, 14, 16, 10, 10, 15, 21, 22, 21), []int64{10, 15, 21}; !slices.Equal(got, want) {
		t.Errorf("finished %v, want %v", got, want)
	}
	if got := finish(offset.New(0, nil), 0, -1); got != nil {
		t.Errorf("finished %v of nothing", got)
	}
}

// A group without a commit starts where sarama says, -2 or -1, until the first message tells.
func TestStartWithoutACommit(t *testing.T) {
	tr := offset.New(-2, nil)
	if tr.Next() != -2 {
		t.Errorf("next %d", tr.Next())
	}
	deliver(tr, 0, 1)
	finish(tr, 1)
	if got := tr.Ranges(); tr.Next() != 0 || !slices.Equal(got, offset.Ranges{{1, 2}}) {
		t.Errorf("next %d, finished %v", tr.Next(), got)
	}
}

// The partition moves from A to B and back, each with some messages finished, each reading nothing but the commit: no message runs
// twice and none is left out.
func TestMapMovesWithThePartition(t *testing.T) {
	const n = 200
	runs := map[int64]int{}
	text, next := "", int64(0)
	for turn, share := range []int64{5, 3, 2, 1} {
		s, err := offset.Decode(text, next)
		if turn > 0 && err != nil {
			t.Fatal(err)
		}
		tr := offset.New(s.Next, s.Finished)
		for o := range n * (int64(turn) + 1) / 4 {
			if o*3 >= next && tr.Deliver(o*3) && o%share == 0 { // two of three offsets do not exist
				runs[o*3]++
				tr.Finish(o * 3)
			}
		}
		next = tr.Next()
		text = offset.State{Stamp: stamp, Next: next, Finished: tr.Ranges()}.Encode(offset.MaxText)
	}
	for o := range int64(n) {
		if runs[o*3] != 1 {
			t.Errorf("%d ran %d times", o*3, runs[o*3])
		}
	}
}

// Messages that end cost no memory, however long one stays behind, and a window that was large once does not stay so.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	tr, o := offset.New(0, nil), int64(0)
	burst := func(n int64) {
		for i := range n {
			tr.Deliver(o + i)
		}
		for i := range n {
			tr.Finish(o + n - 1 - i)
		}
		o += n
	}
	for _, n := range []int64{8_192, 5_000} {
		burst(n)
		if allocs := testing.AllocsPerRun(50, func() { burst(n) }); allocs > 0 {
			t.Errorf("%v allocations for a window of %d that drains and fills again", allocs, n)
		}
	}
}

func TestWindowShrinks(t *testing.T) {
	tr, o := offset.New(0, nil), int64(0)
	for ; o < 1<<17; o++ {
		tr.Deliver(o)
	}
	for i := range o {
		tr.Finish(i)
	}
	large := heap()
	for ; o < 1<<20; o++ {
		tr.Deliver(o)
		tr.Finish(o)
	}
	if small := heap(); large-small < 7<<17 {
		t.Errorf("gave back %d bytes of 1 MiB", large-small)
	}
	runtime.KeepAlive(tr)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Only what lies between Next and the last one delivered, and was not delivered, is another log's.
func TestRewind(t *testing.T) {
	for o, want := range map[int64]bool{9: false, 10: false, 11: true, 12: false, 13: true, 14: false, 15: false, 16: false} {
		tr := offset.New(10, offset.Ranges{{From: 20, To: 30}})
		for _, delivered := range []int64{10, 12, 14, 15} {
			tr.Deliver(delivered)
		}
		tr.Finish(12)
		tr.Finish(15)
		if got := tr.Rewind(o); got != want {
			t.Errorf("rewind to %d: %v, want %v", o, got, want)
		}
		if want && (tr.Last() != o-1 || tr.Next() != 10 || tr.Unfinished() != 1 || tr.Expecting() || !tr.Deliver(14)) {
			t.Errorf("rewind to %d: last %d, next %d, %d unfinished", o, tr.Last(), tr.Next(), tr.Unfinished())
		}
	}
}
