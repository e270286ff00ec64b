package commit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/commit"
)

// An answer that comes after the release neither counts nor causes a retry.
func TestALateAnswerCountsForNothing(t *testing.T) {
	for name, late := range map[string]error{"stored": nil, "refused": errors.New("cut off")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &broker{takes: time.Second, answer: func(r commit.Request) ([]error, error) { return make([]error, len(r.Offsets)), late }}
				l := run(t, b)
				c := l.Claim(&me{generation: 1}, "t", 0)
				c.Commit(at(5))
				synctest.Wait()
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				c.Release(ctx)
				time.Sleep(time.Hour)
				if n := len(b.sent()); n != 1 || l.Stored("t", 0) != -1 {
					t.Errorf("%d requests, stored %d after the release", n, l.Stored("t", 0))
				}
			})
		})
	}
}
