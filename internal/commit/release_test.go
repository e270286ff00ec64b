package commit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// A request that was put together and waits for the one before it is not sent for a claim that was released meanwhile.
func TestABatchThatWaitsIsNotSentAfterRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Second}
		l := run(t, b)
		hold := l.Claim(&me{generation: 1}, "t", 9)
		hold.Commit(at(1))
		synctest.Wait() // under way: what follows comes together behind it
		old := &me{generation: 1}
		first, late, kept := l.Claim(&me{generation: 2}, "t", 0), l.Claim(old, "t", 1), l.Claim(old, "t", 2)
		for _, c := range []*commit.Claim{first, late, kept} {
			c.Commit(at(5))
		}
		time.Sleep(1500 * time.Millisecond) // that of first is under way, that of the two others waits
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		late.Release(ctx)
		time.Sleep(time.Hour)
		var sent []int32
		for _, r := range b.sent() {
			for _, o := range r.Offsets {
				sent = append(sent, o.Partition)
			}
		}
		if len(sent) != 3 || sent[1] != 0 || sent[2] != 2 || l.Stored("t", 1) != -1 || l.Stored("t", 2) != 5 {
			t.Errorf("sent partitions %v, stored %d and %d: want 9, 0, 2 and nothing of 1", sent, l.Stored("t", 1), l.Stored("t", 2))
		}
	})
}

// A batch of which nothing is left is no request.
func TestAnEmptyBatchIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{takes: time.Second}
		l := run(t, b)
		hold := l.Claim(&me{generation: 1}, "t", 9)
		hold.Commit(at(1))
		synctest.Wait()
		first, late := l.Claim(&me{generation: 2}, "t", 0), l.Claim(&me{generation: 3}, "t", 1)
		first.Commit(at(5))
		late.Commit(at(5))
		time.Sleep(1500 * time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		late.Release(ctx)
		release(t, first, time.Minute)
		time.Sleep(time.Hour)
		if n := len(b.sent()); n != 2 {
			t.Errorf("%d requests, want 2: %+v", n, b.sent())
		}
	})
}

// A look-up ends with its caller's patience, not with the loop.
func TestALookUpEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := commit.New(commit.Options{LookUp: func(ctx context.Context, _ string, _ int32) (member.Position, error) {
			<-ctx.Done()
			return at(-1), ctx.Err()
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if got, err := l.Claim(&me{}, "t", 0).Committed(ctx); got != at(-1) || err == nil {
			t.Errorf("committed %v, %v", got, err)
		}
	})
}

// Who has no time to wait does not make the loop hurry either: what was refused would be sent just before it is dropped.
func TestWhoDoesNotWaitDoesNotHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{answer: func(commit.Request) ([]error, error) { return []error{sarama.ErrIllegalGeneration}, nil }}
		c := run(t, b).Claim(&me{generation: 1}, "t", 0)
		c.Commit(at(5))
		synctest.Wait() // refused, and it pauses
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Settled(over); err == nil {
			t.Error("it is settled")
		}
		synctest.Wait()
		if n := len(b.sent()); n != 1 {
			t.Errorf("sent %d times, want once before the pause is over", n)
		}
		c.Release(over)
	})
}
