package handler_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// led is a group whose leader is of our kind.
type led struct {
	*rejoining
	strategy *strategy.Preserving
}

// beginLed starts messages of partition 0 in a group that plans with ours.
func beginLed(t *testing.T, o handler.Options, plain bool, f handler.Func, keys ...string) *led {
	t.Helper()
	r := &led{rejoining: begin(t, o, plain, f, keys...)}
	r.strategy = r.Preserving(sarama.RebalanceProtocolEager)
	return r
}

// told is an assignment of partitions with what the leader says of them.
func (r *led) told(a assign.Assignment, partitions ...int32) {
	topics := map[string][]int32{topic: partitions}
	r.strategy.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: topics, UserData: a.Encode([]string{topic})}, r.s.next())
	time.Sleep(10 * time.Millisecond) // ends are left alone for a moment
	synctest.Wait()
}

// report is what the leader would be told now.
func (r *led) report() assign.Report {
	r.t.Helper()
	data, err := r.strategy.SubscriptionUserData([]string{topic})
	if err != nil {
		r.t.Fatal(err)
	}
	report, err := assign.ParseReport(data, []string{topic})
	if err != nil {
		r.t.Fatal(err)
	}
	return *report
}

func (r *led) yields() int {
	r.member.mu.Lock()
	defer r.member.mu.Unlock()
	return r.member.yields
}

func only(partitions ...int32) assign.Partitions { return assign.Partitions{topic: partitions} }

var handOver = assign.Assignment{HandOver: only(0)}

// eachLed runs a test with tasks of half an hour, in each order.
func eachLed(t *testing.T, test func(t *testing.T, o handler.Options)) {
	t.Helper()
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		t.Run(order.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				o := ordered(t, order, 1)
				o.Plan = plan(t, config.Input{Expected: 30 * time.Minute})
				test(t, o)
			})
		})
	}
}

// What runs on a partition that is to be handed over ends, is committed, and nothing follows it. The member is told once.
func TestNothingStartsOnAPartitionThatIsToBeHandedOver(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(30*time.Minute), "a", "b", "c")
		if got := r.report(); !slices.Equal(got.Busy[topic], []int32{0}) || got.Marked != nil || !slices.Equal(got.Owned[topic], []int32{0}) || got.Generation != 2 {
			t.Errorf("reported %+v", got)
		}
		r.told(handOver, 0)
		if r.yields() != 0 {
			t.Error("told that it is idle while the task runs")
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		r.wantStarted(0)
		r.wantCommitted(0, 1)
		if got := r.report(); r.yields() != 1 || got.Busy != nil || !slices.Equal(got.Marked[topic], []int32{0}) {
			t.Errorf("told %d times, reported %+v", r.yields(), got)
		}
		if s := r.Status().Claims[0]; !s.HandingOver {
			t.Errorf("status %+v does not say so", s)
		}
		r.group.end()
	})
}

// A claim with nothing to do that is to be handed over says so as well. Where its member drains nothing starts either, but whether anybody may
// have the partition is the leader's to say: asking for round after round would not help.
func TestAnIdleClaimIsHandedOver(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		for _, drains := range []bool{false, true} {
			r := beginLed(t, o, false, obedient(time.Minute))
			r.endSession(sarama.ErrRebalanceInProgress)
			r.member.draining = drains
			if drains {
				r.told(assign.Assignment{}, 0)
			} else {
				r.told(handOver, 0)
			}
			r.start()
			time.Sleep(time.Second)
			r.claim.put(0, 1)
			time.Sleep(time.Hour)
			want := 1
			if drains {
				want = 0
			}
			if r.yields() != want || r.seen.count() > 0 {
				t.Errorf("drains %v: told %d times, started %d", drains, r.yields(), r.seen.count())
			}
			r.group.end()
		}
	})
}

// The leader may think better of it.
func TestAPartitionThatIsNoLongerToBeHandedOverGoesOn(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(30*time.Minute), "a", "b")
		r.told(handOver, 0)
		time.Sleep(time.Hour)
		r.told(assign.Assignment{}, 0)
		r.wantStarted(0, 1)
		time.Sleep(time.Hour)
		r.wantCommitted(0, 2)
		r.group.end()
	})
}

// A mark holds for the next claim of the partition, whose tasks are those of the one before.
func TestAMarkHoldsForTheNextClaim(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(30*time.Minute), "a", "b")
		r.endSession(sarama.ErrRebalanceInProgress)
		if got := r.report(); !slices.Equal(got.Busy[topic], []int32{0}) {
			t.Errorf("reported %+v between two sessions", got)
		}
		r.told(handOver, 0)
		r.start()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		r.wantStarted(0)
		r.wantCommitted(0, 1)
		if r.yields() != 1 {
			t.Errorf("told %d times", r.yields())
		}
		r.group.end()
	})
}

// A mark that nobody acts on may not leave a partition idle for ever.
func TestAPartitionThatNobodyTakesGoesBackToWork(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(30*time.Minute), "a", "b")
		r.told(handOver, 0)
		time.Sleep(time.Hour)
		for round := range 3 {
			r.wantStarted(0)
			if r.yields() != round+1 {
				t.Errorf("told %d times after %d rounds", r.yields(), round)
			}
			r.told(handOver, 0)
		}
		r.wantStarted(0, 1)
		if got := r.report(); got.Marked != nil || got.Busy == nil {
			t.Errorf("reported %+v", got)
		}
		if n := len(r.logs.with("level=WARN", "going on there")); n != 1 {
			t.Errorf("%d warnings", n)
		}
		r.told(handOver, 0) // busy again, so that the mark counts again
		time.Sleep(time.Hour)
		if got := r.report(); got.Marked == nil {
			t.Errorf("reported %+v", got)
		}
		r.group.end()
	})
}

// The leader stops what has run for longer than the hold limit: it is cancelled with a cause, and the member joins again.
func TestWhatIsToBeStoppedIsCancelled(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		var cause error
		r := beginLed(t, o, false, func(ctx context.Context, _ *handler.Task) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		}, "a", "b")
		if got := r.report(); got.Over != nil {
			t.Errorf("reported %+v at once", got)
		}
		time.Sleep(o.Plan.HoldLimit + time.Second)
		if got := r.report(); !slices.Equal(got.Over[topic], []int32{0}) {
			t.Errorf("reported %+v past the limit", got)
		}
		r.told(assign.Assignment{HandOver: only(0), Stop: only(0)}, 0)
		<-r.done
		if !errors.Is(cause, handler.ErrRevoked) || len(r.member.rejoins) != 1 {
			t.Errorf("cancelled by %v, joined again %d times", cause, len(r.member.rejoins))
		}
		if s := r.Status(); s.Counts.Cancelled != 1 || s.Kept != 0 || s.Running != 0 {
			t.Errorf("status %+v", s)
		}
		r.wantCommitted(0, 0)
		if got := r.report(); got.Busy != nil || got.Marked == nil {
			t.Errorf("reported %+v", got)
		}
		r.group.end()
	})
}

// Each task on a marked partition has the limit, also one that began later than others that have ended.
func TestTheHoldLimitIsThatOfEachTask(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := ordered(t, handler.None, 2)
		o.Plan = plan(t, config.Input{Expected: 20 * time.Minute, HoldLimit: time.Hour})
		r := beginLed(t, o, false, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				return obedient(50*time.Minute)(ctx, m)
			}
			return obedient(100*time.Hour)(ctx, m)
		}, "a")
		time.Sleep(20 * time.Minute)
		r.claim.put(1, 2)
		time.Sleep(time.Minute)
		r.told(handOver, 0)
		time.Sleep(58 * time.Minute) // 79 min since the first one began, 59 since the other one did
		before := r.yields()
		time.Sleep(2 * time.Minute)
		if after := r.yields(); after != before+1 || len(r.report().Over[topic]) != 1 {
			t.Errorf("told %d times before the limit and %d times after it, reported %+v", before, after, r.report())
		}
		r.group.end()
	})
}

// What was to be stopped may have ended by itself: the next task has nothing to do with it.
func TestAStopIsOfTheTasksThatRun(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, false, obedient(30*time.Minute), "a")
		time.Sleep(31 * time.Minute)
		r.told(assign.Assignment{HandOver: only(0), Stop: only(0)}, 0)
		r.told(assign.Assignment{}, 0)
		r.claim.put(1, 2)
		time.Sleep(20 * time.Minute)
		r.claim.put(2, 3)
		time.Sleep(2 * time.Hour)
		if s := r.Status(); s.Counts.Cancelled != 0 {
			t.Errorf("status %+v", s)
		}
		r.wantCommitted(0, 3)
		r.group.end()
	})
}

// Without a hold limit tasks keep nothing from moving.
func TestWithoutAHoldLimitNothingIsBusy(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := beginLed(t, with(t, config.Input{Expected: time.Hour, HoldLimit: config.NoHold}), false, obedient(time.Minute), "a")
		if got := r.report(); got.Busy != nil || got.Owned == nil {
			t.Errorf("reported %+v", got)
		}
		r.group.end()
	})
}

// Over a plain sarama group the end of a claim asks for a round: sarama ends the session then.
func TestOverAPlainSessionTheClaimEnds(t *testing.T) {
	eachLed(t, func(t *testing.T, o handler.Options) {
		r := beginLed(t, o, true, obedient(30*time.Minute), "a", "b")
		r.told(handOver, 0)
		time.Sleep(30*time.Minute - time.Second)
		select {
		case <-r.done:
			t.Error("the claim has ended under its task")
		default:
		}
		time.Sleep(time.Minute)
		<-r.done
		r.wantStarted(0)
		r.wantCommitted(0, 1)
		r.group.end()
	})
}
