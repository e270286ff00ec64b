package commit_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
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

// A broker that has not heard of the topic yet, or a right that comes later, costs no commit.
func TestWhatMayPassIsSentAgain(t *testing.T) {
	for _, answer := range []error{sarama.ErrUnknownTopicOrPartition, sarama.ErrTopicAuthorizationFailed, sarama.ErrGroupAuthorizationFailed} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			b := &broker{answer: func(r commit.Request) ([]error, error) {
				if n++; n == 1 {
					return []error{answer}, nil
				}
				return make([]error, len(r.Offsets)), nil
			}}
			l := run(t, b)
			l.Claim(&me{}, "t", 0).Commit(at(5))
			time.Sleep(time.Hour)
			if len(b.sent()) != 2 || l.Stored("t", 0) != 5 {
				t.Errorf("%v: %d requests, stored %d", answer, len(b.sent()), l.Stored("t", 0))
			}
		})
	}
}

// The last commit is tried once more, whatever pause it was in.
func TestReleaseTriesOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var well atomic.Bool
		b := &broker{answer: func(r commit.Request) ([]error, error) {
			if !well.Load() {
				return nil, errors.New("connection reset")
			}
			return make([]error, len(r.Offsets)), nil
		}}
		c := run(t, b).Claim(&me{}, "t", 0)
		c.Commit(at(5))
		time.Sleep(4300 * time.Millisecond) // in the middle of a pause of two seconds
		before := len(b.sent())
		well.Store(true)
		release(t, c, 700*time.Millisecond)
		if n := len(b.sent()) - before; n != 1 {
			t.Errorf("%d tries in the release, want 1", n)
		}
	})
}

// B29: where the broker takes no text of this length, the offset is committed without one.
func TestARefusedTextIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: func(r commit.Request) ([]error, error) {
			errs := make([]error, len(r.Offsets))
			if r.Offsets[0].Metadata != "" {
				errs[0] = sarama.ErrOffsetMetadataTooLarge
			}
			return errs, nil
		}}
		l := run(t, b)
		c := l.Claim(&me{}, "t", 0)
		if err := c.Store(t.Context(), member.Position{Offset: 5, Metadata: "text"}); err != nil || l.Stored("t", 0) != 5 {
			t.Errorf("stored %d, %v", l.Stored("t", 0), err)
		}
		c.Commit(member.Position{Offset: 6, Metadata: "text"})
		time.Sleep(time.Second)
		if n := len(b.sent()); n != 3 || l.Stored("t", 0) != 6 {
			t.Errorf("%d requests, stored %d, want 6 after 3: the text is not tried again", n, l.Stored("t", 0))
		}
	})
}

// Commits of short tasks share requests, and what somebody waits for is sent at once.
func TestRequestsKeepTheirSpacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{}
		l := spaced(t, b, 100*time.Millisecond)
		var claims []*commit.Claim
		for p := range int32(10) {
			claims = append(claims, l.Claim(&me{}, "t", p))
		}
		for o := range int64(1000) {
			for i, c := range claims {
				if (int(o)+i)%3 == 0 {
					c.Commit(at(o))
				}
			}
			time.Sleep(time.Millisecond)
		}
		if n := len(b.sent()); n < 9 || n > 11 {
			t.Errorf("%d requests in a second, want ten", n)
		}
		begin := time.Now()
		claims[0].Commit(at(2000))
		release(t, claims[0], time.Second)
		if err := claims[1].Store(t.Context(), at(2000)); err != nil || time.Since(begin) != 0 {
			t.Errorf("%v after %v, want them stored at once", err, time.Since(begin))
		}
	})
}
