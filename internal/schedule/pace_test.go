package schedule_test

import (
	"math"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

func TestPaceMakesRunsOfATurn(t *testing.T) {
	for _, test := range []struct {
		each time.Duration
		want int
	}{
		{0, schedule.MaxRun},
		{time.Nanosecond, schedule.MaxRun},
		{schedule.Turn / schedule.MaxRun, schedule.MaxRun},
		{2 * time.Microsecond, 50},
		{33 * time.Microsecond, 3},
		{schedule.Turn, 1},
		{time.Hour, 1},
		{math.MaxInt64, 1},
	} {
		var p schedule.Pace
		p.Add(test.each, 1)
		if got := p.Run(); got != test.want || p.Mean() != test.each {
			t.Errorf("tasks of %v: runs of %d at a mean of %v, want %d", test.each, got, p.Mean(), test.want)
		}
	}
}

func TestPaceStartsWithOne(t *testing.T) {
	var p schedule.Pace
	if p.Run() != 1 || p.Mean() != 0 {
		t.Errorf("run %d, mean %v at first", p.Run(), p.Mean())
	}
	p.Add(time.Hour, 0)
	p.Add(time.Hour, -1)
	if p.Run() != 1 || p.Mean() != 0 {
		t.Errorf("run %d, mean %v after runs of nothing", p.Run(), p.Mean())
	}
}

// A claim whose tasks change is followed within a few dozen runs in either direction.
func TestPaceFollows(t *testing.T) {
	var p schedule.Pace
	p.Add(time.Microsecond, 1)
	runs := func(each time.Duration, until func() bool) (n int) {
		for !until() && n < 1000 {
			p.Add(each*time.Duration(p.Run()), p.Run())
			n++
		}
		return n
	}
	if n := runs(time.Second, func() bool { return p.Run() == 1 }); n != 1 {
		t.Errorf("one long task is followed after %d runs", n)
	}
	if n := runs(time.Second, func() bool { return p.Mean() > 900*time.Millisecond }); n > 20 {
		t.Errorf("long tasks are followed after %d runs", n)
	}
	if n := runs(time.Microsecond, func() bool { return p.Run() == schedule.MaxRun }); n > 150 {
		t.Errorf("short tasks are followed after %d runs", n)
	}
}

func FuzzPace(f *testing.F) {
	f.Add(int64(0), 1, int64(time.Hour), 64)
	f.Fuzz(func(t *testing.T, d1 int64, n1 int, d2 int64, n2 int) {
		var p schedule.Pace
		for _, d := range []time.Duration{time.Duration(max(d1, 0)), time.Duration(max(d2, 0))} {
			for _, n := range []int{n1, n2} {
				p.Add(d, n)
				if r := p.Run(); r < 1 || r > schedule.MaxRun || p.Mean() < 0 {
					t.Fatalf("run %d, mean %v", r, p.Mean())
				}
			}
		}
	})
}
