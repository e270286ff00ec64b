package consumer_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// It must be seen: the log and the hook say what is held back, by which task and how long, and what was thrown away.
func TestARebalanceTellsWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		time.Sleep(10 * time.Minute)
		l.assign(2, marked)
		l.assign(3, marked)
		last := l.rebalances[len(l.rebalances)-1]
		if len(last.Holding) != 1 || last.Holding[0].Task.Age != 10*time.Minute || last.Holding[0].Topic != "t" || last.WastedSeconds != 0 ||
			last.Strategy != "evenkeel" {
			t.Errorf("told %+v", last)
		}
		if log := l.log.String(); !strings.Contains(log, `generation=3 strategy=evenkeel`) || !strings.Contains(log, `waiting_for="t/0@0 (10m)"`) || strings.Contains(log, "wasted") {
			t.Errorf("logged %s", log)
		}
		l.m.Lose()
		time.Sleep(time.Second)
		l.assign(4, assign.Assignment{})
		if last := l.rebalances[len(l.rebalances)-1]; last.WastedSeconds != 600 || len(last.Holding) > 0 {
			t.Errorf("told %+v", last)
		}
		if log := l.log.String(); !strings.Contains(log, "wasted_task_seconds=600") {
			t.Errorf("logged %s", log)
		}
	})
}

// A round of another strategy, which may take partitions from running tasks, is told from one of ours.
func TestARebalanceTellsItsStrategy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		other := l.m.OfferAlso(sticky()).(sarama.OnAssignmentBalanceStrategy)
		other.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{"t": {0}}}, 2)
		if last := l.rebalances[len(l.rebalances)-1]; last.Strategy != "cooperative-sticky" || last.Generation != 2 {
			t.Errorf("told %+v", last)
		}
		if log := l.log.String(); !strings.Contains(log, "generation=2 strategy=cooperative-sticky") {
			t.Errorf("logged %s", log)
		}
	})
}

// The leader hears what it has decided for the whole group.
func TestALeaderTellsItsPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := beginLed(t, config.Input{Expected: time.Hour})
		mine, err := l.offer.SubscriptionUserData([]string{"t"})
		if err != nil {
			t.Fatal(err)
		}
		newcomer := assign.Report{Owner: 7, Stamps: true}.Encode([]string{"t"})
		held := []*sarama.OwnedPartition{{Topic: "t", Partitions: []int32{0, 1}}}
		_, err = l.offer.Plan(map[string]sarama.ConsumerGroupMemberMetadata{
			"m-1": {Topics: []string{"t"}, UserData: mine, OwnedPartitions: held, GenerationID: 1},
			"m-2": {Topics: []string{"t"}, UserData: newcomer},
		}, map[string][]int32{"t": {0, 1}})
		want := consumer.GroupPlan{
			Members: map[string]consumer.Share{
				"m-1": {Assigned: consumer.Partitions{"t": {0}}, HandOver: consumer.Partitions{}, Stop: consumer.Partitions{}},
				"m-2": {Assigned: consumer.Partitions{}, HandOver: consumer.Partitions{}, Stop: consumer.Partitions{}},
			},
			Withheld: []consumer.Move{{Topic: "t", Partition: 1, From: "m-1", To: "m-2"}}, Unserved: consumer.Partitions{},
		}
		if err != nil || len(l.plans) != 1 || !reflect.DeepEqual(l.plans[0], want) {
			t.Errorf("told %+v, %v, want %+v", l.plans, err, want)
		}
		if log := l.log.String(); !strings.Contains(log, "members=2 moved=0 moved_next_round=1 to_hand_over=0") {
			t.Errorf("logged %s", log)
		}
	})
}
