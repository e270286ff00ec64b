package commit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A stop waits for the claims that still commit, and no longer than it is told to.
func TestAwaitReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := run(t, &broker{})
		await := func() time.Duration {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			l.AwaitReleases(ctx)
			return time.Since(begin)
		}
		if d := await(); d != 0 {
			t.Errorf("waited %v without a claim", d)
		}
		a, b := l.Claim(&me{}, "t", 0), l.Claim(&me{}, "t", 1)
		if d := await(); d != time.Minute {
			t.Errorf("waited %v for claims that stay", d)
		}
		time.AfterFunc(time.Second, func() { release(t, a, 0) })
		time.AfterFunc(2*time.Second, func() { release(t, b, 0) })
		if d := await(); d != 2*time.Second {
			t.Errorf("waited %v for the claims", d)
		}
	})
}

// A claim counts as unanswered from the hand-over to the answer that settles it.
func TestUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := run(t, &broker{takes: time.Second})
		c := l.Claim(&me{}, "t", 0)
		want := func(n int) {
			t.Helper()
			if got := l.Unanswered(); got != n {
				t.Errorf("%d are unanswered, want %d", got, n)
			}
		}
		want(0)
		c.Commit(at(5))
		want(1)
		synctest.Wait() // sent
		want(1)
		time.Sleep(2 * time.Second)
		want(0)
	})
}
