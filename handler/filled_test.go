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

// filled is a log with a gap at 2 (a marker of a transaction, say), whose task at 0 goes on, and which is replaced by one that has a message
// there, and others beyond.
func filled(t *testing.T, order handler.Order, f handler.Func) *rejoining {
	t.Helper()
	r := begin(t, ordered(t, order, 3), false, f, "a", "b")
	for o := range int64(2) {
		r.claim.messages <- &sarama.ConsumerMessage{Topic: topic, Offset: 3 + o, Key: []byte{'c' + byte(o)}, Value: []byte("v")}
	}
	time.Sleep(time.Minute)
	r.endSession(sarama.ErrRebalanceInProgress)
	r.log = slices.DeleteFunc(r.log, func(m *sarama.ConsumerMessage) bool { return m.Offset >= 2 })
	for o := int64(2); o < 6; o++ {
		r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: o, Key: []byte{'m' + byte(o)}, Value: []byte("new"), Timestamp: time.Unix(99, 0)})
	}
	r.assign(0)
	r.start()
	return r
}

// A message at an offset that the log did not have says that it is another one: it runs, the commit does not pass it while it does, and
// what had finished beyond it has not.
func TestAMessageThatFillsAGapRuns(t *testing.T) {
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		inVirtualTime(t, func(t *testing.T) {
			r := filled(t, order, func(ctx context.Context, m *handler.Task) error {
				switch m.Offset {
				case 0:
					return deaf(time.Hour)(ctx, m)
				case 2:
					return obedient(3*time.Hour)(ctx, m)
				}
				return nil
			})
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if got := r.s.committed(0); got != 2 {
				t.Errorf("order %v: committed %d while the task at 2 runs", order, got)
			}
			time.Sleep(3 * time.Hour)
			r.wantCommitted(0, 6)
			if got := slices.Sorted(slices.Values(r.seen.all())); !slices.Equal(got, []int64{0, 1, 2, 3, 3, 4, 4, 5}) {
				t.Errorf("order %v: started %v, want those of the new log from 2 on", order, got)
			}
			if s := r.Status().Claims[0]; s.Backlog != 0 || s.Bytes != 0 {
				t.Errorf("order %v: %+v", order, s)
			}
			r.group.end()
		})
	}
}

// A task beyond the gap goes on: where its message comes again it is not run twice, and where it ends before that it is.
func TestATaskBeyondAFilledGapIsComparedWithItsMessage(t *testing.T) {
	for name, c := range map[string]struct {
		same bool
		last time.Duration
		runs int
	}{
		"the same message, and the task runs":  {true, time.Hour, 1},
		"another message, and the task runs":   {false, time.Hour, 2},
		"the same message, and the task ended": {true, time.Minute + time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				r := begin(t, ordered(t, handler.None, 3), false, func(ctx context.Context, m *handler.Task) error {
					switch m.Offset {
					case 0:
						return deaf(2*time.Hour)(ctx, m)
					case 2:
						return deaf(c.last)(ctx, m)
					}
					return nil
				}, "a")
				r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: 2, Value: []byte("v")})
				r.claim.messages <- r.log[1]
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				late := []*sarama.ConsumerMessage{{Topic: topic, Offset: 1, Value: []byte("new")}, r.log[1]}
				if !c.same {
					late[1] = &sarama.ConsumerMessage{Topic: topic, Offset: 2, Value: []byte("new")}
				}
				r.log = r.log[:1]
				r.assign(0)
				r.start()
				r.claim.messages <- late[0]
				time.Sleep(time.Minute)
				r.claim.messages <- late[1]
				time.Sleep(5 * time.Hour)
				r.wantCommitted(0, 3)
				runs := 0
				for _, o := range r.seen.all() {
					if o == 2 {
						runs++
					}
				}
				if s := r.Status().Claims[0]; runs != c.runs || s.Backlog != 0 || s.Bytes != 0 {
					t.Errorf("2 has run %d times, want %d; %+v", runs, c.runs, s)
				}
				r.group.end()
			})
		})
	}
}
