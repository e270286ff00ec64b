package main

import (
	"fmt"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

const (
	planRounds     = 20
	planMembers    = 1_000
	planPartitions = 10_000
)

// planning times what the leader of a large group does in a round in which its members become twice as many.
func planning(l *lab) ([]figure, error) {
	rounds := l.roundsOr(planRounds)
	busy, err := medianPlan(rounds, true)
	if err != nil {
		return nil, err
	}
	idle, err := medianPlan(rounds, false)
	return []figure{
		{name: "plan_1000x10000", value: inMillis(busy), unit: "ms", baseline: "none"},
		{name: "plan_1000x10000_idle", value: inMillis(idle), unit: "ms", baseline: "none"},
	}, err
}

func medianPlan(rounds int, busy bool) (time.Duration, error) {
	reports := planReports(busy)
	topics := assign.Partitions{"tasks": partitionsOf(0, 1)}
	var times []time.Duration
	for range rounds {
		begin := time.Now()
		if err := planOnce(reports, topics); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin))
	}
	return median(times), nil
}

func planOnce(reports [][]byte, topics assign.Partitions) error {
	subscription := []string{"tasks"}
	members := make([]assign.Member, 0, len(reports))
	for i, data := range reports {
		r, err := assign.ParseReport(data, subscription)
		if err != nil {
			return err
		}
		members = append(members, assign.Member{ID: fmt.Sprintf("member-%04d", i), Topics: subscription, Report: r})
	}
	plan := assign.Decide(members, topics)
	for _, m := range members {
		_ = plan.Assignment(m.ID, 8).Encode(subscription)
	}
	if plan.Failure != nil {
		return fmt.Errorf("planning has failed: %v", plan.Failure)
	}
	return nil
}

// planReports are what members say: the first half has all partitions.
func planReports(busy bool) (reports [][]byte) {
	for i := range planMembers {
		r := assign.Report{Owner: uint64(i + 1), Slots: 1, Stamps: true}
		if i < planMembers/2 {
			r.Generation = 7
			r.Owned = assign.Partitions{"tasks": partitionsOf(i, planMembers/2)}
			if busy {
				r.Busy = r.Owned
			}
		}
		reports = append(reports, r.Encode([]string{"tasks"}))
	}
	return reports
}

// partitionsOf returns each step-th partition.
func partitionsOf(first, step int) (numbers []int32) {
	for n := first; n < planPartitions; n += step {
		numbers = append(numbers, int32(n))
	}
	return numbers
}
