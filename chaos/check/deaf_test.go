package check_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// A task that ignores its cancellation may go on while the next owner runs its message again: that is no overlap of two members that both
// think it theirs, and it is measured.
func TestADeafTaskIsMeasured(t *testing.T) {
	history := sound()
	history.neverStored()
	history.change(at(500*ms), move(1900*ms)) // A's run of 1
	history.change(of(ledger.Gone, "A.1"), move(1950*ms))
	history.tell(1100*ms, "A.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Offset, e.Key = 2, 1, "y" })
	history.change(of(ledger.Stopping, "A.1"), move(90*ms)) // its grace is over
	history.run("B.1", 9, 1, "y", 1350*ms, 1450*ms)
	r := history.check()
	if len(r.Overlaps) > 0 || len(r.Deaf) != 1 || r.Deaf[0] != 100*ms {
		t.Errorf("overlaps %v, deaf %v: %v", r.Overlaps, r.Deaf, r.Violations)
	}
	var text strings.Builder
	if r.Summary(&text); !strings.Contains(text.String(), "ignored it: 1 times, at most 100ms") {
		t.Errorf("%s", &text)
	}
}
