package check_test

import (
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// A commit that was given up unanswered may be stored after later ones. Whoever sent it has to mend that.
func TestALateCommitIsMended(t *testing.T) {
	for name, test := range map[string]struct {
		owner    uint64
		given    int64 // the offset that was given up, 0 for none
		mended   bool
		violated string
	}{
		"mended":                   {8, 3, true, ""},
		"not mended":               {8, 3, false, "S2"},
		"nothing was given up":     {8, 0, true, "S2"},
		"another one was given up": {8, 2, true, "S2"},
		"of somebody else":         {7, 3, true, "S2"},
	} {
		history := sound()
		if test.given > 0 {
			history.tell(1515*ms, "B.1", ledger.Answered, func(e *ledger.Event) { e.Offset, e.Err, e.Text = test.given, "no answer", ledger.Unanswered })
		}
		history.stored(1520*ms, test.owner, 2, 3)
		if test.mended {
			history.stored(3500*ms, 8, 2, 4)
		} else {
			history.drop(at(12_110 * ms))
		}
		r := history.check()
		if found := slices.Contains(r.Broken(), "S2"); found != (test.violated != "") {
			t.Errorf("%s: broken %v, %v", name, r.Broken(), r.Violations)
		}
	}
}
