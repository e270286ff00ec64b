package nemesis_test

import (
	"reflect"
	"regexp"
	"testing"
	"time"

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
	at := map[string]int{}
	overlaps := 0
	for i, s := range steps {
		at[s.Name]++
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
	most, least := 0, len(steps)
	for _, name := range nemesis.Names() {
		most, least = max(most, at[name]), min(least, at[name])
		if nemesis.What(name) == "" {
			t.Errorf("%s does not say what it does", name)
		}
	}
	if most > least+1 {
		t.Errorf("not in turns: %v", at)
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
