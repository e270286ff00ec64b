package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
)

func TestWastedIsAllButTheRunThatCounts(t *testing.T) {
	for name, test := range map[string]struct {
		story   []told
		wasted  time.Duration
		repeats int
	}{
		"nothing":                         {nil, 0, 0},
		"done once":                       {[]told{{s, 0, 0, 1, 0}, {e, 0, 0, 1, 4}}, 0, 0},
		"still running":                   {[]told{{s, 0, 0, 1, 0}}, 0, 0},
		"cut and not begun again":         {[]told{{s, 0, 0, 1, 0}, {c, 0, 0, 1, 3}}, 3 * time.Second, 0},
		"cut, then done":                  {[]told{{s, 0, 0, 1, 0}, {c, 0, 0, 1, 3}, {s, 1, 0, 1, 4}, {e, 1, 0, 1, 9}}, 3 * time.Second, 1},
		"done twice":                      {[]told{{s, 0, 0, 1, 0}, {e, 0, 0, 1, 3}, {s, 1, 0, 1, 4}, {e, 1, 0, 1, 9}}, 5 * time.Second, 1},
		"done, then begun again":          {[]told{{s, 0, 0, 1, 0}, {e, 0, 0, 1, 3}, {s, 1, 0, 1, 8}}, 2 * time.Second, 1},
		"cut, then still running":         {[]told{{s, 0, 0, 1, 0}, {c, 0, 0, 1, 3}, {s, 1, 0, 1, 4}}, 3 * time.Second, 1},
		"two messages of equal offset":    {[]told{{s, 0, 0, 1, 0}, {s, 0, 1, 1, 0}}, 0, 0},
		"a stray that ends after the new": {[]told{{s, 0, 0, 1, 0}, {s, 1, 0, 1, 2}, {e, 1, 0, 1, 6}, {e, 0, 0, 1, 7}}, 4 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs := tell(test.story...).Runs(at(10))
			if runs.Wasted() != test.wasted || runs.Repeats() != test.repeats {
				t.Errorf("%v wasted, %d repeats, want %v and %d", runs.Wasted(), runs.Repeats(), test.wasted, test.repeats)
			}
		})
	}
}

// Partition 0 has a gap of 2 s under member 0 and one of 3 s at the change to member 1; partition 1 ends at 4 s and has nobody after it.
func gaps() ledger.Runs {
	return tell(
		told{s, 0, 0, 1, 0}, told{e, 0, 0, 1, 1},
		told{s, 0, 0, 2, 3}, told{e, 0, 0, 2, 4},
		told{s, 1, 0, 3, 7}, told{e, 1, 0, 3, 10},
		told{s, 0, 1, 1, 0}, told{e, 0, 1, 1, 4},
	).Runs(at(10))
}

func TestIdleIsTheSumOfTheGaps(t *testing.T) {
	if got := gaps().Idle(at(0), at(10)); got != 11*time.Second {
		t.Errorf("%v, want 2 + 3 + 6 s", got)
	}
	if got := gaps().Idle(at(2), at(6)); got != 5*time.Second {
		t.Errorf("from 2 to 6: %v, want 1 + 2 + 2 s", got)
	}
}

func TestStallIsTheLongestGap(t *testing.T) {
	if got := gaps().Stall(at(0), at(10), false); got != 6*time.Second {
		t.Errorf("of all: %v, want 6 s", got)
	}
	if got := gaps().Stall(at(0), at(10), true); got != 2*time.Second {
		t.Errorf("of those that a member has kept: %v, want 2 s", got)
	}
}

// Runs that overlap leave no gap.
func TestAStrayCoversAGap(t *testing.T) {
	runs := tell(told{s, 0, 0, 1, 0}, told{e, 0, 0, 1, 9}, told{s, 1, 0, 1, 2}, told{e, 1, 0, 1, 3}, told{s, 1, 0, 2, 8}, told{e, 1, 0, 2, 10}).Runs(at(10))
	if got := runs.Idle(at(0), at(10)); got != 0 {
		t.Errorf("idle for %v", got)
	}
}

func TestWhatWasOverBeforeIsLeftOut(t *testing.T) {
	runs := tell(
		told{s, 0, 0, 1, 0}, told{c, 0, 0, 1, 1}, told{s, 0, 0, 1, 1}, told{e, 0, 0, 1, 2}, // over
		told{s, 0, 0, 2, 2}, told{e, 0, 0, 2, 4}, told{s, 1, 0, 2, 6}, // done before, and begun again after
		told{s, 0, 1, 1, 0}, // running
	).Runs(at(10)).Since(at(5))
	if len(runs) != 3 || runs.Repeats() != 1 || runs.Wasted() != 4*time.Second {
		t.Errorf("%+v: %d repeats, %v wasted", runs, runs.Repeats(), runs.Wasted())
	}
}

func TestTakeoverIsThatOfTheLastPartition(t *testing.T) {
	story := []told{
		{s, 0, 0, 1, 0}, {e, 0, 0, 1, 6}, {s, 1, 0, 2, 8}, // a partition of the leaver, taken over at 8
		{s, 0, 1, 1, 0}, {e, 0, 1, 1, 4}, {s, 1, 1, 2, 5}, // another one, at 5: before the moment
		{s, 1, 2, 1, 0}, {e, 1, 2, 1, 7}, {s, 1, 2, 2, 9}, // not the leaver's
	}
	if took, all := tell(story...).Runs(at(10)).Takeover(0, at(5.5), at(10)); took != 2500*time.Millisecond || !all {
		t.Errorf("%v, all %v, want 2.5 s", took, all)
	}
	story = append(story, told{s, 0, 3, 1, 1}) // nobody takes this one
	if took, all := tell(story...).Runs(at(10)).Takeover(0, at(5.5), at(10)); took != 4500*time.Millisecond || all {
		t.Errorf("%v, all %v, want what it has waited for so far", took, all)
	}
	if took, all := tell(story...).Runs(at(10)).Takeover(7, at(5.5), at(10)); took != 0 || !all {
		t.Errorf("of one that has nothing: %v, %v", took, all)
	}
}

func TestWhoHasBegun(t *testing.T) {
	runs := gaps()
	if first, ok := runs.First(1); !ok || !first.Equal(at(7)) {
		t.Errorf("member 1 began at %v, %v", first, ok)
	}
	if _, ok := runs.First(2); ok {
		t.Error("member 2 has begun")
	}
	if runs.Partitions() != 2 || !runs.LastBegun().Equal(at(0)) || !slices.Equal(runs.Members(), []int{0, 1}) {
		t.Errorf("%d partitions, the last at %v, members %v", runs.Partitions(), runs.LastBegun(), runs.Members())
	}
}
