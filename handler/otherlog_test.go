package handler_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// The last message that was delivered to the claim before is no longer in the log: the commit goes on past it.
func TestTheLastOneDeliveredIsGone(t *testing.T) {
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		for _, gone := range []int{1, 2} {
			inVirtualTime(t, func(t *testing.T) {
				r := begin(t, ordered(t, order, 1), false, deaf(time.Hour), "a", "b", "c")
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				r.log[gone] = nil // compacted
				r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: 3, Key: []byte("c"), Value: []byte("v")},
					&sarama.ConsumerMessage{Topic: topic, Offset: 4, Key: []byte("d"), Value: []byte("v")})
				r.assign(0)
				r.start()
				time.Sleep(10 * time.Hour)
				synctest.Wait()
				if got := r.s.committed(0); got != 5 {
					t.Errorf("order %v, %d gone: committed %d, want 5; started %v", order, gone, got, r.seen.all())
				}
				r.group.end()
			})
		}
	}
}

// The log was replaced, and the commit with our stamp is still there: sarama finds it out of range and starts at the first message. What
// lies below the old commit has to run.
func TestALogThatWasReplacedRunsWhole(t *testing.T) {
	for name, running := range map[string]bool{"a task runs": true, "a commit without an answer": false} {
		for _, order := range []handler.Order{handler.ByPartition, handler.None} {
			t.Run(name+" "+order.String(), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T) {
					f := func(ctx context.Context, m *handler.Task) error {
						if m.Offset == 5 && running && m.Timestamp.Unix() == 5 {
							return obedient(10*time.Hour)(ctx, m)
						}
						return nil
					}
					r := begin(t, ordered(t, order, 1), false, f, "a", "b", "c", "d", "e", "f")
					time.Sleep(time.Minute)
					if !running {
						r.deafBroker()
					}
					r.endSession(sarama.ErrRebalanceInProgress)
					before := r.seen.count()
					r.log = nil
					for i := range 3 { // the new log
						r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: int64(i), Key: []byte("n"), Value: []byte("new"), Timestamp: time.Unix(99, 0)})
					}
					r.assign(0)
					r.claim = newClaim(0, 0)
					r.claim.initial, r.claim.end = sarama.OffsetOldest, 3
					for _, m := range r.log {
						r.claim.messages <- m
					}
					r.done = r.consumeIn(r.member, r.claim)
					time.Sleep(time.Hour)
					synctest.Wait()
					if n := r.seen.count() - before; n != 3 {
						t.Errorf("%d of 3 new messages ran; marks %v", n, r.s.allMarks())
					}
					r.assign()
					r.group.end()
				})
			})
		}
	}
}

// The adopted task ends in the moment in which another message comes at its offset: its result is not that of the message.
func TestAnotherMessageReplacesAResult(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		r := begin(t, ordered(t, order, 1), false, func(ctx context.Context, m *handler.Task) error {
			if string(m.Value) == "v" {
				return deaf(time.Hour)(ctx, m)
			}
			return obedient(time.Hour)(ctx, m)
		}, "a")
		time.Sleep(time.Hour - 30*time.Second)
		r.replace(func(m *sarama.ConsumerMessage) { m.Value = []byte("new") })
		r.endSession(sarama.ErrRebalanceInProgress)
		r.s.slowMarks(time.Minute)
		r.member.ask = func(context.Context) { time.Sleep(time.Second) } // the message is there before the commit is known
		r.assign(0)
		r.start()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if got := r.s.committed(0); got != 0 {
			t.Errorf("committed %d while the message at 0 runs: %+v", got, r.Status())
		}
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if s := r.Status().Claims[0]; s.Backlog != 0 || s.Bytes != 0 {
			t.Errorf("%+v", s)
		}
		r.group.end()
	})
}

// Retention has taken what was delivered to the claim before and had not started.
func TestTheCommitGoesOnPastWhatRetentionTook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		const n = handler.MaxPending + 2000
		r := begin(t, ordered(t, handler.None, 1), false, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				return deaf(time.Hour)(ctx, m)
			}
			return nil
		}, "a", "b", "c")
		time.Sleep(time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.assign(0)
		c := newClaim(0, 0)
		c.messages = make(chan *sarama.ConsumerMessage, n)
		c.initial, c.end = sarama.OffsetOldest, 10+n
		c.put(10, 10+n)
		r.consumeIn(r.member, c)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if got := r.s.committed(0); got != 10+n || c.isPaused() {
			t.Errorf("committed %d, want %d; %d of %d started, paused %v, log %v", got, 10+n, r.seen.count(), n+1, c.isPaused(), r.logs.with("level=WARN"))
		}
		r.group.end()
	})
}

// An adopted task has failed, and its next attempt is due when another message comes at its offset: it is not tried again.
func TestAnotherMessageComesWhereARetryIsDue(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		o := ordered(t, order, 1)
		o.Retry.Initial, o.Retry.Max = time.Hour, time.Hour
		var mu sync.Mutex
		var ran []string
		r := begin(t, o, false, func(ctx context.Context, m *handler.Task) error {
			mu.Lock()
			ran = append(ran, string(m.Value))
			n := len(ran)
			mu.Unlock()
			switch {
			case m.Partition == 1:
				time.Sleep(10 * time.Hour)
			case string(m.Value) == "v" && n == 1:
				time.Sleep(10 * time.Minute)
				return errTask
			case string(m.Value) == "new":
				return obedient(100*time.Hour)(ctx, m)
			}
			return nil
		}, "a")
		time.Sleep(time.Minute)
		r.replace(func(m *sarama.ConsumerMessage) { m.Value = []byte("new") })
		late := r.log
		r.endSession(sarama.ErrRebalanceInProgress)
		r.assign(0, 1)
		r.log = nil // the fetch takes its time
		r.start()
		other := newClaim(1, 1)
		r.consumeIn(r.member, other)
		time.Sleep(2 * time.Hour) // the task has failed, its attempt is due, and the other partition has the slot
		r.claim.messages <- late[0]
		time.Sleep(20 * time.Hour)
		synctest.Wait()
		if got := r.s.committed(0); got != 0 {
			t.Errorf("committed %d while the message at 0 has not been handled: ran %q, %+v", got, ran, r.Status().Claims)
		}
		for _, c := range r.Status().Claims {
			if c.Backlog < 0 || c.Bytes < 0 {
				t.Errorf("negative: %+v", c)
			}
		}
		r.group.end()
	})
}
