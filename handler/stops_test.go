package handler_test

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// A stop is of the task that is past the limit. Where that has ended in the round, younger ones beside it go on.
func TestAStopIsOfTheTaskThatIsPastTheLimit(t *testing.T) {
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		inVirtualTime(t, func(t *testing.T) {
			o := ordered(t, order, 2)
			o.Plan = plan(t, config.Input{Expected: 30 * time.Minute, HoldLimit: time.Hour})
			r := beginLed(t, o, false, func(ctx context.Context, m *handler.Task) error {
				if m.Offset == 0 {
					return obedient(61*time.Minute)(ctx, m)
				}
				return obedient(30*time.Minute)(ctx, m)
			}, "a")
			time.Sleep(59 * time.Minute)
			r.claim.put(1, 2)
			time.Sleep(time.Minute + 30*time.Second)
			r.wantReported(true, false, true)
			time.Sleep(time.Minute) // the one that is over ends in the round
			r.told(assign.Assignment{HandOver: only(0), Stop: only(0)}, 0)
			time.Sleep(time.Hour)
			if s := r.Status(); s.Counts.Cancelled != 0 {
				t.Errorf("%v: %+v", order, s.Counts)
			}
			r.group.end()
		})
	}
}

// A stop ends with its round, also one of a task that has ended before its partition was claimed again.
func TestAStopEndsWithItsRound(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(30*time.Minute), "a")
		time.Sleep(29 * time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.report() // busy
		time.Sleep(2 * time.Minute)
		r.told(assign.Assignment{Stop: only(0)}, 0) // disputed
		r.start()
		r.claim.put(1, 2)
		time.Sleep(10 * time.Minute)
		r.wantStarted(0, 1)
		r.report() // next round
		r.claim.put(2, 3)
		time.Sleep(time.Minute)
		r.told(assign.Assignment{}, 0)
		time.Sleep(time.Hour)
		if s := r.Status(); s.Counts.Cancelled != 0 {
			t.Errorf("%+v", s.Counts)
		}
		r.group.end()
	})
}

// A strategy that nobody has wrapped may win a round, over a plain group. What ours has said before counts no longer.
func TestARoundThatNobodyHeardOfEndsWhatOursHasSaid(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := with(t, config.Input{Expected: 30 * time.Minute})
		r := beginLed(t, o, true, obedient(time.Minute), "a", "b")
		r.told(handOver, 0)
		sessions := 0
		for range 20 {
			select {
			case <-r.done:
			case <-time.After(time.Hour):
				continue
			}
			sessions++
			r.endSession(sarama.ErrRebalanceInProgress)
			r.s.next()
			claims := withClaims{r.s}
			_ = r.Setup(claims)
			r.start()
		}
		if sessions > 3 || r.seen.count() < 2 {
			t.Errorf("%d sessions, started %d", sessions, r.seen.count())
		}
		r.group.end()
	})
}

type withClaims struct{ *session }

func (withClaims) Claims() map[string][]int32 { return map[string][]int32{topic: {0}} }
