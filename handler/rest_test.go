package handler_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// saysRunning says whether the latest commit tells that tasks go on without a claim.
func (s *session) saysRunning(t *testing.T) bool {
	t.Helper()
	state, err := offset.Decode(s.lastText(), s.committed(0))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(state.More, func(x offset.Section) bool { return x.Tag == 2 })
}

// Tasks that went on without a claim have all ended, however: the next owner of the partition has nobody to wait for.
func TestACommitTellsWhenNoTaskGoesOnAnyMore(t *testing.T) {
	for name, result := range map[string]error{"the last one succeeds": nil, "the last one fails": errTask} {
		for _, order := range []handler.Order{handler.ByKey, handler.None} {
			t.Run(name+" "+order.String(), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T) {
					r := begin(t, ordered(t, order, 2), false, func(_ context.Context, m *handler.Task) error {
						time.Sleep(time.Duration(1+m.Offset) * 10 * time.Minute)
						if m.Offset == 1 {
							return result
						}
						return nil
					}, "a", "b")
					time.Sleep(time.Minute)
					held := r.s
					r.endSession(sarama.ErrRebalanceInProgress)
					for _, running := range []bool{true, true, false} {
						synctest.Wait()
						if got := held.saysRunning(t); got != running {
							t.Errorf("%v: the commit says that tasks go on: %v", time.Now(), got)
						}
						time.Sleep(10 * time.Minute)
					}
					r.assign()
					r.group.end()
				})
			})
		}
	}
}

// The same at a stop, whose cancelled tasks have returned; what does not return goes on, for all that the next owner knows.
func TestACommitAtAStopTellsWhatGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		task    handler.Func
		running bool
	}{
		"obedient": {obedient(time.Hour), false},
		"deaf":     {deaf(time.Hour), true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				r := begin(t, options(t), false, c.task, "a")
				time.Sleep(time.Minute)
				held, member := r.s, r.member
				r.endSession(sarama.ErrRebalanceInProgress)
				member.stopWork(handler.ErrDraining)
				time.Sleep(time.Minute)
				synctest.Wait()
				if got := held.saysRunning(t); got != c.running {
					t.Errorf("the commit says that tasks go on: %v", got)
				}
				r.assign()
				r.group.end()
			})
		})
	}
}
