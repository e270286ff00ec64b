package commit_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// B33: a topic that is another one under its old name is committed at its start, after what was under way, and then no more in this
// claim; others are not touched.
func TestRestartCommitsTheStartAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: 10 * time.Millisecond}
		l, owner := run(t, b), &me{generation: 1}
		c, other := l.Claim(owner, "t", 0), l.Claim(owner, "u", 0)
		c.Commit(at(10))
		time.Sleep(time.Millisecond)
		if !l.Restart("t") {
			t.Error("no claim was found")
		}
		c.Commit(at(11))
		other.Commit(at(5))
		release(t, c, time.Second)
		release(t, other, time.Second)
		var of []int64
		for _, r := range b.sent() {
			for _, o := range r.Offsets {
				if o.Topic == "t" {
					of = append(of, o.Offset)
				}
			}
		}
		if !slices.Equal(of, []int64{10, 0}) || len(b.results) != 3 {
			t.Errorf("committed %v of the topic, want 10 and 0; %d answers in all, want 3", of, len(b.results))
		}
		if l.Restart("t") {
			t.Error("a claim that was given up was found")
		}
	})
}
