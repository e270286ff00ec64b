package moves_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/test/kit"
)

// One member, then three, then five, then two, each change in the middle of tasks on all partitions: each message is started once, nothing is
// cancelled, and each has its share when what ran has ended.
func TestScalingInterruptsNothing(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 12)
		g.Produce(10)
		members := team(g, 1)
		g.UntilSeen(12, kit.Started)
		for _, n := range []int{3, 5} {
			members = team(g, n, members...)
			untilBalanced(g, members...)
		}
		var stopped sync.WaitGroup
		for _, m := range members[2:] {
			stopped.Go(func() { m.Stop() })
		}
		stopped.Wait()
		untilBalanced(g, members[:2]...)
		g.UntilAllHandled()
		wantUninterrupted(g, 120)
		t.Logf("the longest time between two tasks of a partition: %v", longestIdle(g))
	}, everywhere()...)
}

// Added partitions are no reason to interrupt anything either.
func TestAddedPartitionsInterruptNothing(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 4)
		g.Input.MetadataRefresh = 500 * time.Millisecond
		g.Produce(3)
		members := team(g, 2)
		untilBalanced(g, members...)
		g.UntilSeen(4, kit.Started)
		g.Grow(8)
		for p := int32(4); p < 8; p++ {
			g.ProduceTo(p, 3)
		}
		untilBalanced(g, members...)
		g.UntilAllHandled()
		wantUninterrupted(g, 24)
	}, everywhere()...)
}

// A member that always has a task: a newcomer gets its share within about the time of a task, and not only when the backlog is worked off.
func TestANewcomerGetsItsShareOfEndlessWork(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 8)
		g.Produce(20)
		busy := g.Start("busy", lasts(taskTime/2))
		g.UntilSeen(8, kit.Started)
		newcomer := g.Start("newcomer", lasts(taskTime/2))
		untilBalanced(g, busy, newcomer)
		now := g.Note("balanced")
		if done := g.Count(kit.Returned); done > 8*10 {
			g.Errorf("%d of 160 tasks had ended when the newcomer had its share", done)
		}
		g.UntilSeen(4, kit.Started, kit.By("newcomer"), kit.After(now))
		g.WantAtMost(0, kit.Cancelled)
	}, everywhere()...)
}

// Over groups of the user's own, where the end of a claim has to ask for the round in which its partition moves.
func TestScalingInterruptsNothingOverPlainGroups(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 6)
		g.Produce(6)
		var members []*kit.Member
		for i := range 3 {
			_, lent := g.Lend()
			members = append(members, g.Start(fmt.Sprint("m", i), lasts(taskTime), lent))
			if i == 0 {
				g.UntilSeen(6, kit.Started)
			}
		}
		untilBalanced(g, members...)
		g.UntilSeen(36, kit.Returned)
		wantUninterrupted(g, 36)
	}, everywhere()...)
}
