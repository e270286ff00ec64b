package handler_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// Retention has taken messages while a task goes on between two claims. What was lost is told where the next claim takes the task over, and
// a message that nobody misses is not: the one of the task itself, or one that has finished.
func TestAGapAtAnAdoptionIsTold(t *testing.T) {
	type reset struct {
		initial, first int64
		told           bool
	}
	eachOrder(t, func(t *testing.T, order handler.Order) {
		for name, c := range map[string]reset{
			"what had not started":  {sarama.OffsetOldest, 10, true},
			"one that waited":       {sarama.OffsetOldest, 2, true},
			"the message of a task": {sarama.OffsetOldest, 1, false},
			"nothing":               {sarama.OffsetOldest, 0, false},
			"compacted":             {0, 10, false},
		} {
			var heard gaps
			o := ordered(t, order, 1)
			o.Hooks = []any{&heard}
			r := begin(t, o, false, deaf(time.Hour), "a", "b", "c")
			time.Sleep(time.Minute)
			r.endSession(sarama.ErrRebalanceInProgress)
			r.assign(0)
			next := newClaim(0, 0)
			next.initial, next.end = c.initial, 12
			next.put(int(c.first), 12)
			if c.first < 3 { // what was delivered before is the same
				next.messages = make(chan *sarama.ConsumerMessage, 12)
				for _, m := range r.log[c.first:] {
					next.messages <- m
				}
				for i := range int64(9) {
					next.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: 3 + i, Value: []byte("v")}
				}
			}
			r.consumeIn(r.member, next)
			time.Sleep(20 * time.Hour)
			synctest.Wait()
			r.wantCommitted(0, 12)
			var want []handler.Gap
			if c.told {
				want = []handler.Gap{{Claim: handler.Claim{Topic: topic}, Committed: 0, First: c.first}}
			}
			if warned := len(r.logs.with("level=WARN", "no longer exists")); !slices.Equal(heard.list, want) || warned != len(want) {
				t.Errorf("%s: told %v in %d warnings, want %v", name, heard.list, warned, want)
			}
			r.group.end()
		}
	})
}

// By key, what has finished beyond the commit is missed by nobody.
func TestFinishedTasksAreNoGap(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var heard gaps
		o := ordered(t, handler.ByKey, 3)
		o.Hooks = []any{&heard}
		r := begin(t, o, false, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 1 {
				return deaf(time.Hour)(ctx, m)
			}
			return nil
		}, "a", "b", "c")
		time.Sleep(time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.assign(0)
		next := newClaim(0, 0)
		next.initial, next.end = sarama.OffsetOldest, 5
		next.put(3, 5)
		r.consumeIn(r.member, next)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		r.wantCommitted(0, 5)
		if len(heard.list) > 0 {
			t.Errorf("told %v", heard.list)
		}
		r.group.end()
	})
}
