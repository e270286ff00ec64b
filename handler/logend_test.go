package handler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// The log was replaced, and sarama has found the commit beyond its end. It grows beyond the commit before the claim has read that: what
// lies below is of the new log all the same, and runs.
func TestALogThatGrowsBeyondTheCommitRunsWhole(t *testing.T) {
	for name, late := range map[string]time.Duration{"before the first message": 0, "while the commit is read": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				g, m := newGroup(t, ordered(t, handler.None, 50), nothing), newMemberSession()
				g.s = m.session
				m.stored = 100
				m.ask = func(context.Context) { time.Sleep(late) }
				c := newClaim(0, 0)
				c.initial, c.end = sarama.OffsetOldest, 50
				g.consumeIn(m, c)
				time.Sleep(time.Second)
				synctest.Wait()
				if late > 0 {
					c.put(0, 50)
					time.Sleep(time.Second / 2)
					synctest.Wait()
					c.end = 120
					c.put(50, 120)
				} else {
					c.end = 120
					c.put(0, 120)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := g.seen.count(); n != 120 {
					t.Errorf("%d of 120 messages ran; told %v", n, g.logs.with("going on there"))
				}
				g.end()
			})
		})
	}
}

// The same where tasks of the log before go on: nothing is taken over.
func TestALogThatGrowsBeyondTheCommitIsAnotherOneToTheTasks(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		r := begin(t, ordered(t, order, 1), false, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 5 && string(m.Value) == "v" {
				return obedient(10*time.Hour)(ctx, m)
			}
			return nil
		}, "a", "b", "c", "d", "e", "f")
		time.Sleep(time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		before := r.seen.count()
		r.member.ask = func(context.Context) { time.Sleep(2 * time.Second) }
		r.assign(0)
		c := newClaim(0, 0)
		c.initial, c.end = sarama.OffsetOldest, 3
		r.consumeIn(r.member, c)
		time.Sleep(time.Second)
		synctest.Wait()
		c.end = 8
		for i := range int64(8) {
			c.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: i, Value: []byte("new"), Timestamp: time.Unix(99, 0)}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := r.seen.count() - before; n != 8 {
			t.Errorf("%d of the 8 messages of the new log ran: %v", n, r.seen.all()[before:])
		}
		r.assign()
		r.group.end()
	})
}
