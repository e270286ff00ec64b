// Package moves_test attacks the promise that a planned change interrupts no running task.
package moves_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

var shared = kafkatest.Shared{Options: kafkatest.Options{Links: []string{cutLink(true), cutLink(false), joinLink(true), joinLink(false)}}}

// cutLink is the way to the brokers of the member that a scenario cuts off.
func cutLink(eager bool) string {
	if eager {
		return "EAGER"
	}
	return "COOPERATIVE"
}

func TestMain(m *testing.M) {
	kit.Main(m, &shared, kit.Programs{"work": func(*kit.Gate) handler.Func { return lasts(taskTime) }})
}

func kafka() kit.Place { return kit.Kafka(&shared, kit.Version()) }

func everywhere() []kit.Place { return []kit.Place{kit.Fake, kafka()} }

// joinLink is the way to the brokers of the member that a scenario stops in its first join.
func joinLink(eager bool) string { return "JOINS_" + cutLink(eager) }

// taskTime is how long a task takes where a scenario does not say otherwise.
const taskTime = 4 * time.Second

// heartbeat is that of the groups of package kit.
const heartbeat = 250 * time.Millisecond

// group is one whose members leave running tasks alone, and wait for their own when they stop. They expect tasks of a minute.
func group(t *testing.T, s kit.Setting, partitions int32) *kit.Group {
	t.Helper()
	g := s.Group(t, partitions)
	g.Input.HoldLimit, g.Input.Expected, g.Input.StopGrace = 0, time.Minute, time.Minute
	return g
}

// lasts is a task that takes its time, and obeys.
func lasts(d time.Duration) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// team starts members m0, m1 and so on up to a number, beside those that there are.
func team(g *kit.Group, n int, members ...*kit.Member) []*kit.Member {
	for len(members) < n {
		members = append(members, g.Start(fmt.Sprint("m", len(members)), lasts(taskTime)))
	}
	return members
}

// untilBalanced waits until all have their share, within one partition.
func untilBalanced(g *kit.Group, members ...*kit.Member) {
	g.Until(fmt.Sprint(len(members), " members have their share"), func() bool {
		sum := 0
		for _, m := range members {
			n := len(m.Owns())
			sum += n
			if n < int(g.Partitions)/len(members) || n > (int(g.Partitions)-1)/len(members)+1 {
				return false
			}
		}
		return sum == int(g.Partitions)
	})
}

// wantUninterrupted wants each message to have one start, and no task to be cancelled.
func wantUninterrupted(g *kit.Group, messages int) {
	if n := g.Count(kit.Started); n != messages {
		g.Errorf("%d starts of %d messages", n, messages)
	}
	g.WantAtMost(0, kit.Cancelled)
}

// longestIdle is the longest time from the end of a task to the start of the next one of its partition.
func longestIdle(g *kit.Group) (longest time.Duration) {
	for p := range g.Partitions {
		ends, starts := g.Find(kit.Returned, kit.OnPartition(p)), g.Find(kit.Started, kit.OnPartition(p))
		for i := range min(len(ends), len(starts)-1) {
			longest = max(longest, starts[i+1].At.Sub(ends[i].At))
		}
	}
	return longest
}
