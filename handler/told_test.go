package handler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// stopped begins a task that is cancelled past the hold limit and returns so much later. The next claim of its partition is marked.
func stopped(t *testing.T, o handler.Options, late time.Duration) *led {
	t.Helper()
	r := beginLed(t, o, false, func(ctx context.Context, _ *handler.Task) error {
		<-ctx.Done()
		time.Sleep(late)
		return context.Cause(ctx)
	}, "a")
	time.Sleep(o.Plan.HoldLimit + time.Second)
	r.report()
	r.told(assign.Assignment{HandOver: only(0), Stop: only(0)}, 0)
	<-r.done
	r.endSession(sarama.ErrRebalanceInProgress) // as Rejoin does
	return r
}

func (r *led) wantReported(busy, stuck, over bool) {
	r.t.Helper()
	got, zero := r.report(), []int32{0}
	if slices.Equal(got.Busy[topic], zero) != busy || slices.Equal(got.Stuck[topic], zero) != stuck || slices.Equal(got.Over[topic], zero) != over {
		r.t.Errorf("reported %+v", got)
	}
}

// A task that was cancelled and does not return keeps its partition. For a while it is waited for, so that no other task has to be stopped in
// its place; then the leader is told that it is stuck.
func TestATaskThatDoesNotReturnIsToldAsStuck(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := stopped(t, o, 10*time.Hour)
		r.wantReported(true, false, false)
		r.told(handOver, 0)
		r.start()
		time.Sleep(28 * time.Second)
		if r.yields() > 0 || len(r.HandOvers()) > 0 {
			t.Errorf("told %d times of a task that may still return", r.yields())
		}
		r.wantReported(true, false, false)
		time.Sleep(5 * time.Second)
		if r.yields() != 1 || len(r.HandOvers()) != 1 {
			t.Errorf("told %d times of a task that does not return: %v", r.yields(), r.HandOvers())
		}
		r.wantReported(true, true, false)
		if len(r.HandOvers()) > 0 {
			t.Errorf("to be told again: %v", r.HandOvers())
		}
		r.group.end()
	})
}

// One that returns a little later than it should makes its partition idle.
func TestATaskThatReturnsLateLetsItsPartitionMove(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := stopped(t, o, 20*time.Second)
		r.report()
		r.told(handOver, 0)
		r.start()
		time.Sleep(10 * time.Second)
		if r.yields() > 0 {
			t.Error("told that the partition is idle while its task runs")
		}
		time.Sleep(20 * time.Second)
		if got := r.HandOvers(); r.yields() != 1 || len(got) != 1 || !got[0].Idle {
			t.Errorf("told %d times, %v", r.yields(), got)
		}
		r.wantReported(false, false, false)
		r.group.end()
	})
}

// A task that had been given up for stuck and returns: the partition may move again, whether or not it was to be handed over.
func TestTheLeaderHearsThatAStuckTaskHasReturned(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := stopped(t, o, time.Hour)
		r.report()
		r.told(assign.Assignment{}, 0)
		r.start()
		time.Sleep(time.Minute)
		if r.yields() > 0 {
			t.Error("told without need")
		}
		r.wantReported(true, true, false)
		r.told(assign.Assignment{}, 0)
		time.Sleep(2 * time.Hour)
		if got := r.HandOvers(); r.yields() != 1 || len(got) != 1 {
			t.Errorf("told %d times, %v", r.yields(), got)
		}
		r.wantReported(true, false, false) // it is at the message again
		if len(r.HandOvers()) > 0 {
			t.Errorf("to be told again: %v", r.HandOvers())
		}
		r.group.end()
	})
}

// The limit may pass in the middle of a round: what was reported in it does not say so.
func TestALimitThatPassesInARoundIsTold(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(100*time.Hour), "a")
		time.Sleep(o.Plan.HoldLimit - time.Second)
		r.report()
		time.Sleep(2 * time.Second)
		r.told(handOver, 0)
		if got := r.HandOvers(); r.yields() != 1 || len(got) != 1 || got[0].Idle {
			t.Errorf("told %d times, %v", r.yields(), got)
		}
		r.wantReported(true, false, true)
		r.told(handOver, 0) // the leader has thought better of stopping it
		time.Sleep(time.Hour)
		if r.yields() != 1 || len(r.HandOvers()) > 0 {
			t.Errorf("told %d times, %v", r.yields(), r.HandOvers())
		}
		r.group.end()
	})
}

// A member that stops is asked to stop nothing by the leader: its own grace ends its tasks.
func TestAMemberThatStopsTellsOfNoLimit(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(100*time.Hour), "a")
		r.endSession(sarama.ErrRebalanceInProgress)
		r.member.draining = true
		r.report()
		r.told(handOver, 0)
		r.start()
		time.Sleep(10 * time.Hour)
		if r.yields() > 0 || len(r.HandOvers()) > 0 {
			t.Errorf("told %d times, %v", r.yields(), r.HandOvers())
		}
		r.group.end()
	})
}

// A stop is of the task that was reported. The next one may have begun in the round.
func TestAStopDoesNotHitTheNextTask(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		o.Plan = plan(t, config.Input{Expected: 11 * time.Second, Max: 12 * time.Second}) // short ones begin in a round
		r := beginLed(t, o, false, obedient(20*time.Second), "a", "b")
		time.Sleep(19 * time.Second)
		r.wantReported(true, false, true)
		time.Sleep(2 * time.Second)
		r.told(assign.Assignment{HandOver: only(0), Stop: only(0)}, 0)
		time.Sleep(time.Minute)
		r.wantCommitted(0, 2)
		if s := r.Status(); s.Counts.Cancelled > 0 {
			t.Errorf("status %+v", s)
		}
		r.group.end()
	})
}

// What has ended and was not handed to the broker yet would be run again by the next owner.
func TestWhatIsNotStoredYetIsBusy(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		o.Plan = plan(t, config.Input{Expected: 50 * time.Millisecond, HoldLimit: time.Hour})
		r := beginLed(t, o, false, obedient(time.Millisecond), "a")
		time.Sleep(time.Second)
		r.claim.put(1, 2)
		time.Sleep(50 * time.Millisecond)
		r.claim.put(2, 3)
		time.Sleep(50 * time.Millisecond)
		r.wantReported(true, false, false)
		time.Sleep(time.Second)
		r.wantReported(false, false, false)
		r.group.end()
	})
}

// A task on a partition that has gone to another member is nobody's business any more: its message has begun again there.
func TestATaskOfALostPartitionIsNotReported(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, deaf(10*time.Hour), "a")
		r.endSession(sarama.ErrRebalanceInProgress)
		r.told(assign.Assignment{}, 1)
		time.Sleep(time.Minute)
		if s := r.Status(); s.Stray != 1 {
			t.Errorf("status %+v", s)
		}
		r.wantReported(false, false, false)
		time.Sleep(20 * time.Hour)
		if len(r.HandOvers()) > 0 {
			t.Errorf("to be told: %v", r.HandOvers())
		}
		r.group.end()
	})
}

// The limit may pass while the partition is not to be handed over, and was before.
func TestALimitIsToldOfAPartitionThatIsMarkedOnceMore(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(100*time.Hour), "a")
		r.told(handOver, 0)
		r.report()
		r.told(assign.Assignment{}, 0)
		time.Sleep(o.Plan.HoldLimit - time.Minute)
		r.report()
		time.Sleep(2 * time.Minute) // in the round
		r.told(handOver, 0)
		time.Sleep(10 * time.Hour)
		if r.yields() != 1 {
			t.Errorf("told %d times, HandOvers %v", r.yields(), r.HandOvers())
		}
		r.group.end()
	})
}

// A task that was reported as stuck may return in a round, when its partition has no claim.
func TestTheLeaderHearsOfAStuckTaskThatHasReturnedInARound(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := stopped(t, o, time.Hour)
		r.report()
		r.told(assign.Assignment{}, 0)
		r.start()
		time.Sleep(59 * time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.wantReported(true, true, false)
		time.Sleep(2 * time.Minute) // returns
		r.told(assign.Assignment{}, 0)
		r.start()
		time.Sleep(time.Hour)
		if r.yields() != 1 {
			t.Errorf("told %d times, %v", r.yields(), r.HandOvers())
		}
		r.group.end()
	})
}

// Over a plain session a task that ends between two sessions is committed by the next claim alone.
func TestWhatEndsBetweenTwoPlainSessionsIsBusy(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, true, obedient(30*time.Minute), "a")
		time.Sleep(30*time.Minute - 5*time.Second)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.wantReported(true, false, false)
		time.Sleep(10 * time.Second)
		r.wantReported(true, false, false)
		r.told(assign.Assignment{}, 0)
		r.start()
		time.Sleep(time.Second)
		r.wantCommitted(0, 1)
		r.group.end()
	})
}
