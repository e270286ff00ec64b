package member

import (
	"testing"
	"time"
)

// A task behaves alike whoever runs it, and all manners come.
func TestMannersFollowFromTheSeed(t *testing.T) {
	seen := map[ending]int{}
	var long, deaf, longDeaf, stubborn int
	for o := range int64(5_000) {
		m := mannerOf(1, "t", 3, o)
		if m != mannerOf(1, "t", 3, o) {
			t.Fatal("the same message behaves in two ways")
		}
		seen[m.first]++
		if m.lasts > Session {
			long++
		}
		if m.deaf {
			deaf++
		}
		if m.deaf && m.lasts > 2*Session {
			longDeaf++
		}
		if m.succeeds {
			stubborn++
		}
		if m.lasts < time.Millisecond || m.lasts > longest {
			t.Errorf("%+v", m)
		}
	}
	for _, e := range []ending{well, fails, panics, exits} {
		if seen[e] == 0 {
			t.Errorf("no task ends as %q", e)
		}
	}
	if long == 0 || deaf == 0 || longDeaf == 0 || stubborn == 0 {
		t.Errorf("%d long, %d deaf, %d of them for two session timeouts, %d that succeed although cancelled", long, deaf, longDeaf, stubborn)
	}
	if mannerOf(1, "t", 3, 5) == mannerOf(2, "t", 3, 5) && mannerOf(1, "t", 3, 6) == mannerOf(2, "t", 3, 6) {
		t.Error("the seed does not matter")
	}
}
