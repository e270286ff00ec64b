package consumer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// refuses makes the coordinator refuse the commits of these generations.
func (r *renewal) refuses(generations ...int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = generations
}

func (r *renewal) ranNew() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ran["new"]
}

// next begins another session, in which sarama starts where the commit is, and returns what ends it.
func (r *renewal) next(ctx context.Context, n int32, end int64) (over func()) {
	within, cancel := context.WithCancelCause(ctx)
	at := r.committed().Offset
	c := claimWith(at, "new", 0)
	c.end = end
	for o := at; o < end; o++ {
		c.messages <- &sarama.ConsumerMessage{Topic: "t", Offset: o, Value: []byte("new"), Timestamp: time.Unix(o, 0)}
	}
	s := r.Again(&generation{&ending{saramas: session(), ctx: within}, n})
	context.AfterFunc(r.RoundContext(), func() { cancel(context.Cause(r.RoundContext())) })
	done := r.consume(s, n, c)
	return func() {
		r.t.Helper()
		cancel(sarama.ErrRebalanceInProgress)
		r.await(done)
		r.EndSession()
	}
}

func (r *renewal) wantCommitted(want int64) {
	r.t.Helper()
	if got := r.committed().Offset; got != want {
		r.t.Errorf("committed %d, want %d", got, want)
	}
}

// replaced is a member that has handled the 9 first messages of a topic, which is then deleted and created again in a session, or between
// it and the next one; the commit of the start is refused, for the group rebalances.
func replaced(ctx context.Context, t *testing.T, last time.Duration, between bool) *renewal {
	t.Helper()
	r := newRenewal(ctx, t, last)
	within, end := context.WithCancelCause(ctx)
	own, stop := r.Begin(&generation{&ending{saramas: session(), ctx: within}, 1}, consumer.Coordinator{Beat: func(context.Context) error { return nil }})
	t.Cleanup(stop)
	first := r.consume(own, 1, claimWith(0, "old", 10))
	time.Sleep(5 * time.Second)
	r.refuses(1)
	if between {
		end(sarama.ErrRebalanceInProgress)
	} else {
		r.c.Replaced("t")
		end(context.Cause(r.RoundContext()))
	}
	r.await(first)
	r.EndSession()
	if between {
		r.c.Replaced("t")
	}
	time.Sleep(time.Second)
	return r
}

// inBubble runs a test with a context that ends with it, and waits for all that runs.
func inBubble(t *testing.T, test func(ctx context.Context, t *testing.T) *renewal) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := test(ctx, t)
		cancel()
		r.Wait()
	})
}

// B33: the commit of the old topic lies within the new one, and sarama starts there. The claim has the start committed, and the session ends
// once more.
func TestTheStartOfAReplacedTopicIsNotLostInARebalance(t *testing.T) {
	for name, c := range map[string]struct {
		between bool
		last    time.Duration // of the last task of the old topic
		end     int64         // of the new one
	}{
		"in a session":             {false, time.Hour, 20},
		"between two":              {true, time.Hour, 20},
		"between two, and no task": {true, 0, 20},
		"no message at the commit": {false, time.Hour, 9},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(ctx context.Context, t *testing.T) *renewal {
				r := replaced(ctx, t, c.last, c.between)
				for n := range int32(4) {
					over := r.next(ctx, 2+n, c.end)
					time.Sleep(time.Minute)
					if ended := r.RoundContext().Err() != nil; ended != (n == 0) {
						t.Errorf("session %d ends by itself: %v", 2+n, ended)
					}
					over()
				}
				r.wantCommitted(c.end)
				if n := r.ranNew(); n != int(c.end) {
					t.Errorf("%d of the %d messages of the new topic ran", n, c.end)
				}
				return r
			})
		})
	}
}

// The start is committed in whichever session the coordinator stores it, and nothing of the topic runs before.
func TestTheStartOfAReplacedTopicIsTriedInEachSession(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) *renewal {
		r := replaced(ctx, t, time.Hour, false)
		r.refuses(1, 2, 3, 4) // the fourth is over at once
		for _, n := range []int32{2, 3} {
			over := r.next(ctx, n, 20)
			time.Sleep(time.Minute)
			over()
		}
		if n := r.ranNew(); n != 0 {
			t.Errorf("%d messages ran beyond the start", n)
		}
		r.next(ctx, 4, 20)()
		over := r.next(ctx, 5, 20)
		time.Sleep(time.Minute)
		r.wantCommitted(0)
		over()
		over = r.next(ctx, 6, 20)
		time.Sleep(time.Minute)
		if n := r.ranNew(); n != 20 {
			t.Errorf("%d of the 20 messages of the new topic ran", n)
		}
		over()
		return r
	})
}

// A topic may be replaced again, while the start is committed for the first time or long after.
func TestATopicIsReplacedAgain(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) *renewal {
		r := replaced(ctx, t, time.Hour, true)
		over := r.next(ctx, 2, 20)
		r.c.Replaced("t")
		over()
		for n := range int32(2) {
			over = r.next(ctx, 3+n, 20)
			time.Sleep(time.Minute)
			over()
		}
		r.wantCommitted(20)
		r.refuses(4)
		r.c.Replaced("t")
		for n := range int32(2) {
			over = r.next(ctx, 5+n, 30)
			time.Sleep(time.Minute)
			over()
		}
		r.wantCommitted(30)
		if n := r.ranNew(); n != 20+30 {
			t.Errorf("%d messages ran, want those of both", n)
		}
		return r
	})
}

// What another member has done in the new topic stays.
func TestAnotherOwnersProgressInAReplacedTopicStays(t *testing.T) {
	inBubble(t, func(ctx context.Context, t *testing.T) *renewal {
		r := replaced(ctx, t, time.Hour, false)
		r.mu.Lock()
		r.stored.Offset = 15
		r.stored.Metadata = offset.State{Stamp: offset.Stamp{Owner: 1, Count: 5}, Next: 15}.Encode(4096)
		r.mu.Unlock()
		over := r.next(ctx, 3, 20)
		time.Sleep(time.Minute)
		if r.RoundContext().Err() != nil || r.ranNew() != 5 {
			t.Errorf("%d messages ran, want 5; the session has ended with %v", r.ranNew(), context.Cause(r.RoundContext()))
		}
		over()
		r.wantCommitted(20)
		return r
	})
}
