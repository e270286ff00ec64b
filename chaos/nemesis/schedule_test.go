package nemesis_test

import (
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/chaos/nemesis"
)

var everything = regexp.MustCompile("")

func TestASeedMakesOneSchedule(t *testing.T) {
	a, err := nemesis.Schedule(5, 3*time.Minute, nemesis.ForMinutes, everything)
	b, _ := nemesis.Schedule(5, 3*time.Minute, nemesis.ForMinutes, everything)
	c, _ := nemesis.Schedule(6, 3*time.Minute, nemesis.ForMinutes, everything)
	if err != nil || len(a) < 10 || !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, c) {
		t.Errorf("%v\n%v\n%v\n%v", err, a, b, c)
	}
}

func TestFaultsComeOneByOneAtFirst(t *testing.T) {
	const length = 10 * time.Minute
	steps, err := nemesis.Schedule(5, length, nemesis.ForMinutes, everything)
	if err != nil {
		t.Fatal(err)
	}
	overlaps := 0
	for i, s := range steps {
		if i > 0 && steps[i-1].At+steps[i-1].Lasts > s.At {
			overlaps++
			if s.At < length/2 {
				t.Errorf("%v begins before %v has ended", s, steps[i-1])
			}
		}
	}
	if overlaps == 0 {
		t.Error("no faults overlap in the second half")
	}
}

// Whatever the seed, planned changes have the first third of a run for themselves, and most of them are made in that of one in CI.
func TestPlannedChangesComeAloneFirst(t *testing.T) {
	const length = 3 * time.Minute
	for seed := range uint64(200) {
		steps, err := nemesis.Schedule(seed, length, nemesis.ForMinutes, everything)
		if err != nil {
			t.Fatal(err)
		}
		first := slices.IndexFunc(steps, func(s nemesis.Step) bool { return s.At >= length/3 })
		alone, mixed := steps[:first], steps[first:]
		last := alone[first-1]
		switch {
		case len(alone) < 3 || slices.ContainsFunc(alone, func(s nemesis.Step) bool { return s.Class != ledger.Planned }):
			t.Errorf("seed %d: begins with %v", seed, alone)
		case last.At+last.Lasts > mixed[0].At:
			t.Errorf("seed %d: %v begins before %v has ended", seed, mixed[0], last)
		case len(mixed) < 12:
			t.Errorf("seed %d: only %d steps after the planned changes", seed, len(mixed))
		}
	}
}

// A run of a minute has faults, whatever the seed.
func TestAShortRunHasFaults(t *testing.T) {
	for seed := range uint64(200) {
		steps, err := nemesis.Schedule(seed, time.Minute, nemesis.ForMinutes, everything)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(steps, func(s nemesis.Step) bool { return s.Class != ledger.Planned }) {
			t.Errorf("seed %d: %v", seed, steps)
		}
	}
}

// Each part of a run deals all that it has before it deals anything again.
func TestTheyComeInTurns(t *testing.T) {
	steps, err := nemesis.Schedule(5, 10*time.Minute, nemesis.ForMinutes, everything)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.IndexFunc(steps, func(s nemesis.Step) bool { return s.At >= 200*time.Second })
	wantTurns(t, steps[:first], func(c ledger.Class) bool { return c == ledger.Planned })
	wantTurns(t, steps[first:], func(ledger.Class) bool { return true })
}

func wantTurns(t *testing.T, steps []nemesis.Step, has func(ledger.Class) bool) {
	t.Helper()
	times := map[string]int{}
	for _, s := range steps {
		times[s.Name]++
	}
	most, least := 0, len(steps)
	for _, name := range nemesis.Names() {
		if nemesis.What(name) == "" {
			t.Errorf("%s does not say what it does", name)
		}
		if has(nemesis.ClassOf(name)) {
			most, least = max(most, times[name]), min(least, times[name])
		}
	}
	if most > least+1 || least == 0 {
		t.Errorf("not in turns: %v", times)
	}
}

func TestAPatternChooses(t *testing.T) {
	steps, err := nemesis.Schedule(5, time.Minute, nemesis.ForMinutes, regexp.MustCompile("^cut$"))
	if err != nil || len(steps) == 0 {
		t.Fatal(err, steps)
	}
	for _, s := range steps {
		if s.Name != "cut" {
			t.Errorf("%v", s)
		}
	}
	if _, err := nemesis.Schedule(5, time.Minute, nemesis.ForMinutes, regexp.MustCompile("no such fault")); err == nil {
		t.Error("a pattern that matches nothing was taken")
	}
}
