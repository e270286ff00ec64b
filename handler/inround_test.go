package handler_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// In a round the leader may just be giving away what is idle.
func TestInARoundNothingStartsOnWhatWasReportedIdle(t *testing.T) {
	for name, c := range map[string]struct {
		in    config.Input
		waits bool
	}{
		"long":                                 {config.Input{Expected: 16 * time.Second, Max: time.Minute}, true},
		"a grace that is too short":            {config.Input{Expected: 11 * time.Second, Max: 12 * time.Second, Grace: time.Second}, true},
		"a rebalance waits for the whole task": {config.Input{Expected: 11 * time.Second, Max: 12 * time.Second}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				r := beginLed(t, with(t, c.in), false, obedient(time.Second))
				r.report()
				r.claim.put(0, 1)
				time.Sleep(time.Minute)
				if started := r.seen.count() > 0; started == c.waits {
					t.Errorf("started: %v", started)
				}
				r.told(assign.Assignment{}, 0)
				time.Sleep(time.Minute)
				r.wantStarted(0)
				r.group.end()
			})
		})
	}
}

// Another strategy may win the round: what was said to ours, and by ours, is over with its assignment.
func TestAnAssignmentOfAnotherStrategyEndsWhatOursHasSaid(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := beginLed(t, with(t, config.Input{Expected: time.Minute}), false, obedient(time.Second), "a")
		r.told(handOver, 0)
		time.Sleep(time.Minute)
		r.report()
		other := r.BalanceStrategies(r.strategy, sarama.NewBalanceStrategySticky())[1].(sarama.OnAssignmentBalanceStrategy)
		other.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{topic: {0}}}, r.s.next())
		r.claim.put(1, 2)
		time.Sleep(time.Minute)
		r.wantStarted(0, 1)
		r.group.end()
	})
}

// Where a second strategy is offered each round that ends a session ends its tasks too: none is asked for, so nothing is held back.
func TestInAMixedGroupNothingIsBusy(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := beginLed(t, with(t, config.Input{Expected: time.Hour}), false, obedient(time.Minute), "a")
		r.BalanceStrategies(r.strategy, sarama.NewBalanceStrategySticky())
		if got := r.report(); got.Busy != nil || got.Owned == nil {
			t.Errorf("reported %+v", got)
		}
		r.told(assign.Assignment{HandOver: only(0), Stop: only(0)}, 0)
		r.claim.put(1, 2)
		time.Sleep(time.Hour)
		r.wantStarted(0, 1)
		if s := r.Status(); s.Counts.Cancelled > 0 || r.yields() > 0 || s.Claims[0].HandingOver {
			t.Errorf("what a leader has said of an earlier round is obeyed: told %d times, %+v", r.yields(), s)
		}
		r.group.end()
	})
}

// Whoever assigns under the name of our strategy and says nothing is of another kind.
func TestAnAssignmentOfAnotherKindIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := beginLed(t, with(t, config.Input{Expected: time.Hour}), false, obedient(time.Minute), "a")
		r.told(assign.Assignment{}, 0)
		if log := r.logs.with("level=WARN"); len(log) > 0 {
			t.Errorf("warned %v", log)
		}
		r.strategy.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{topic: {0}}}, r.s.next())
		if log := r.logs.with("level=WARN", "KIP-848"); len(log) != 1 {
			t.Errorf("warned %v", r.logs.with("level=WARN"))
		}
		r.group.end()
	})
}

// A claim may begin in the middle of a round, as when one assignment revokes and adds: it was reported idle as well.
func TestInARoundNothingStartsOnAClaimThatBegins(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := beginLed(t, with(t, config.Input{Expected: time.Minute}), false, obedient(time.Second))
		r.endSession(sarama.ErrRebalanceInProgress)
		r.told(assign.Assignment{}, 0)
		r.report()
		r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Value: []byte("v")})
		r.start()
		time.Sleep(10 * time.Second)
		r.wantStarted()
		r.told(assign.Assignment{}, 0)
		time.Sleep(10 * time.Second)
		r.wantStarted(0)
		r.group.end()
	})
}

// Where the leader leaves running tasks alone a session that ends need not wait for them, however short they are: they go on. It is told of
// none where there is no hold limit.
func TestASessionEndsAtOnceWhereTheLeaderLeavesTasksAlone(t *testing.T) {
	for _, c := range []struct {
		ours bool
		hold time.Duration
	}{{true, 0}, {true, config.NoHold}, {false, 0}} {
		inVirtualTime(t, func(t *testing.T) {
			ours := c.ours && c.hold != config.NoHold
			o := with(t, config.Input{Expected: 12 * time.Second, Max: 20 * time.Second, HoldLimit: c.hold})
			r := beginLed(t, o, false, obedient(18*time.Second), "a")
			if c.ours {
				r.told(assign.Assignment{}, 0)
			} else {
				r.assign(0)
			}
			begin := time.Now()
			r.endSession(sarama.ErrRebalanceInProgress)
			if took := time.Since(begin); (took == 0) != ours || took > o.Plan.Grace {
				t.Errorf("%+v: the session took %v to end", c, took)
			}
			r.assign(0)
			r.start()
			time.Sleep(time.Minute)
			r.wantStarted(0)
			r.wantCommitted(0, 1)
			r.group.end()
		})
	}
}
