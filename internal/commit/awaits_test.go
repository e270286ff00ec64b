package commit_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/commit"
)

// How long a partition waits counts from its first commit without an answer, not from the latest; an answer ends the wait.
func TestHowLongAnAnswerIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var deaf atomic.Bool
		b := &broker{answer: func(r commit.Request) ([]error, error) {
			if deaf.Load() {
				return nil, errReset
			}
			return make([]error, len(r.Offsets)), nil
		}}
		l := run(t, b)
		c := l.Claim(&me{generation: 1}, "t", 0)
		for round := range 2 {
			deaf.Store(true)
			for i := range int64(10) {
				c.Commit(at(i + 1))
				time.Sleep(time.Second)
			}
			if d, waits := l.Awaits("t", 0); !waits || d != 10*time.Second {
				t.Errorf("round %d: waits %v, for %v", round, waits, d)
			}
			if _, waits := l.Awaits("t", 1); waits {
				t.Error("another partition waits")
			}
			deaf.Store(false)
			time.Sleep(5 * time.Second)
			if d, waits := l.Awaits("t", 0); waits || d != 0 {
				t.Errorf("round %d: waits %v, for %v, after the answer", round, waits, d)
			}
		}
		c.Release(t.Context())
	})
}
