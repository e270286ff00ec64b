package main

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// Sleeps in a bubble are exact, so that what is computed from them is exact too.
func TestBareGoroutinesAreTheIdeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := load{order: handler.ByKey, slots: 2, task: 20 * time.Millisecond, tasks: 10}
		o := bare(w.tasks, w.slots, w.task)
		if o.done != 10 || o.wall != 100*time.Millisecond || o.busy != 200*time.Millisecond {
			t.Fatalf("%+v, want 10 tasks in 100 ms, 200 ms busy", o)
		}
		if busy, share, rate := o.busyShare(w.slots), o.ofIdeal(w.ideal(nil), w.tasks), o.rate(); busy != 1 || share != 1 || rate != 100 {
			t.Errorf("busy %v, %v of ideal, %v a second, want 1, 1, 100", busy, share, rate)
		}
	})
}

// A slot that waits before the last task's end lowers what is busy; what still runs at the end counts up to there.
func TestStopwatchCountsWhatRunsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStopwatch(2)
		time.Sleep(time.Second) // before the first start: it does not count
		s.start()
		time.Sleep(10 * time.Millisecond)
		s.end()
		time.Sleep(10 * time.Millisecond)
		s.start()
		s.start()
		time.Sleep(10 * time.Millisecond)
		s.end()
		s.end()
		if o := <-s.done; o.done != 2 || o.wall != 30*time.Millisecond || o.busy != 30*time.Millisecond || o.busyShare(2) != 0.5 {
			t.Errorf("%+v, busy %v, want 2 tasks, 30 ms, 30 ms, 0.5", o, o.busyShare(2))
		}
	})
}

func TestIdealByPartitionIsTheFullestOne(t *testing.T) {
	f := &filled{ends: []int64{900, 1_170, 1_000}}
	w := load{order: handler.ByPartition, slots: 100, task: 20 * time.Millisecond, tasks: 3_070}
	if got := w.ideal(f); got != 23_400*time.Millisecond {
		t.Errorf("ideal %v", got)
	}
	w.order = handler.ByKey
	if got := w.ideal(f); got != 614*time.Millisecond {
		t.Errorf("ideal by key %v", got)
	}
	cut := outcome{done: 1_535, wall: 46_800 * time.Millisecond}
	if got := cut.ofIdeal(23_400*time.Millisecond, 3_070); got != 0.25 {
		t.Errorf("half of it in twice the time is %v of the ideal", got)
	}
}

func TestTallyBeginsWithTheFirstMessageOfAny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTally([]int64{2, 1, 0})
		time.Sleep(time.Second)
		c.add(1)
		time.Sleep(time.Second)
		c.add(0)
		time.Sleep(time.Second)
		c.add(0)
		if o := <-c.done; o.done != 3 || o.wall != 2*time.Second {
			t.Errorf("%+v, want 3 in 2 s", o)
		}
	})
}

func TestParseOutcome(t *testing.T) {
	o, err := parseOutcome("10000 2084000000 201000000000\n")
	if err != nil || o != (outcome{done: 10_000, wall: 2_084 * time.Millisecond, busy: 201 * time.Second}) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []string{"", "1 2", "0 5 5", "3 0 1", "x 1 1"} {
		if o, err := parseOutcome(bad); err == nil {
			t.Errorf("%q: %+v", bad, o)
		}
	}
}

func TestQuantiles(t *testing.T) {
	var l latencies
	for i := range 101 {
		l = append(l, time.Duration(100-i))
	}
	if l.at(0.5) != 50 || l.at(0.99) != 99 || l[0] != 100 {
		t.Errorf("%v and %v, first %v", l.at(0.5), l.at(0.99), l[0])
	}
}

func TestGrowthComparesTheLastThirdWithTheSecond(t *testing.T) {
	for _, test := range []struct {
		samples []float64
		want    float64
	}{
		{[]float64{1, 1, 1, 20, 20, 20, 30, 30, 30}, 1.5},
		{[]float64{7, 5}, 5.0 / 7},
		{[]float64{7}, 1},
	} {
		if got := (hoard{test.samples}).growth(); got != test.want {
			t.Errorf("growth of %v: %v, want %v", test.samples, got, test.want)
		}
	}
}

// The case by hand: 2 messages and 1 MiB each, then one that was under way.
func TestBoundOfLargeMessages(t *testing.T) {
	f := &filled{fill: fill{partitions: 12, bytes: 1_000_000}}
	if got := boundOf(f, 0, 0); got < 36 || got > 36.1 {
		t.Errorf("12 partitions with 3 MB each: %v MB", got)
	}
	if got := boundOf(f, 24, 0); got < 60 || got > 60.1 {
		t.Errorf("and 24 tasks: %v MB", got)
	}
}

func TestMedian(t *testing.T) {
	if odd, even := median([]float64{9, 1, 2}), median([]float64{8, 1, 2, 4}); odd != 2 || even != 3 {
		t.Errorf("%v and %v, want 2 and 3", odd, even)
	}
}

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	own, base := []float64{1, 20, 300}, []float64{1, 10, 100}
	if f := versus(figure{}, own, base); f.value != 20 || f.baselineValue != 10 || f.ratio != 2 {
		t.Errorf("%+v", f)
	}
	own[1], base[1] = 20, 2 // a round in which the baseline was disturbed
	if f := versus(figure{}, own, base); f.value != 20 || f.baselineValue != 2 || f.ratio != 3 {
		t.Errorf("%+v", f)
	}
	if f := versus(figure{baseline: "x"}, own, nil); f.value != 20 || f.baseline != "none" || f.String() != " 20  none 0 0.000" {
		t.Errorf("without a baseline: %q", f)
	}
}

// In turns each partition has all keys, and the last ones stay empty.
func TestFillInTurns(t *testing.T) {
	f := &filled{fill: fill{partitions: 4, empty: 1, keys: 2, turns: true}}
	var got []string
	for i := range 9 {
		r := f.record(i, nil)
		got = append(got, fmt.Sprintf("%d %s", r.Partition, r.Key))
	}
	want := []string{"0 key-0", "1 key-0", "2 key-0", "0 key-1", "1 key-1", "2 key-1", "0 key-0", "1 key-0", "2 key-0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
