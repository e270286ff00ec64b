package moves_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// A deployment replaces four members one by one: each waits for its tasks, and all else moves on.
func TestARollingRestartInterruptsNothing(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 12)
		g.Produce(8)
		members := team(g, 4)
		untilBalanced(g, members...)
		g.UntilSeen(12, kit.Started)
		for i := range members {
			members[i].Stop()
			members[i] = g.Start(fmt.Sprint("new", i), lasts(taskTime))
			g.UntilSeen(1, kit.Started, kit.By(members[i].Name))
		}
		g.UntilAllHandled()
		wantUninterrupted(g, 96)
		t.Logf("the longest time between two tasks of a partition: %v", longestIdle(g))
	}, everywhere()...)
}

// What is idle when a member stops goes to others at once, while the member waits for a task that takes its time.
func TestWhatIsIdleLeavesAMemberThatStopsAtOnce(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 4)
		gate := kit.NewGate()
		a := g.Start("a", gate.Hold)
		g.Until("it has all", func() bool { return len(a.Owns()) == 4 })
		g.ProduceTo(0, 2)
		g.UntilSeen(1, kit.Started, kit.By("a"))
		b := g.Start("b", lasts(0))
		untilBalanced(g, a, b)
		began := a.BeginStop()
		g.Until("the other one has what is idle", func() bool { return len(b.Owns()) == 3 })
		g.WantWithin("what is idle moves", began, time.Now(), 2*heartbeat)
		for p := int32(1); p < 4; p++ {
			g.ProduceTo(p, 1)
		}
		g.UntilSeen(3, kit.Started, kit.By("b"))
		if n := a.Status().Running; n != 1 {
			g.Errorf("%d tasks run in the member that stops, want 1", n)
		}
		ended := g.Note("the task may end")
		gate.Open()
		g.WantWithin("the member stops after its last task", ended, a.AwaitStop(), 0)
		g.UntilAllHandled()
		wantUninterrupted(g, 5)
	}, everywhere()...)
}

// A member that drains alone, or whose partitions nobody else may have, does not ask for round after round.
func TestALoneMemberDrainsInPeace(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 4)
		gate := kit.NewGate()
		a := g.Start("a", gate.Hold)
		g.ProduceTo(0, 1)
		g.UntilSeen(1, kit.Started)
		before := g.Count(kit.Assigned)
		a.BeginStop()
		g.UntilSeen(before+1, kit.Assigned)
		time.Sleep(4 * time.Second)
		if n := g.Count(kit.Assigned) - before; n > 1 {
			g.Errorf("%d rounds in a drain of one member", n)
		}
		gate.Open()
		a.AwaitStop()
		g.UntilAllHandled()
		wantUninterrupted(g, 1)
	}, everywhere()...)
}

// The grace of a stop ends, and with it the task: it runs again elsewhere.
func TestTheGraceOfAStopEnds(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 2)
		g.Input.StopGrace = 3 * time.Second
		g.ProduceTo(0, 1)
		gate := kit.NewGate()
		a := g.Start("a", gate.Hold)
		g.UntilSeen(1, kit.Started, kit.By("a"))
		b := g.Start("b", lasts(0))
		untilBalanced(g, a, b)
		if took := a.Stop(); took < g.Input.StopGrace {
			g.Errorf("stopped after %v, before its grace of %v was over", took, g.Input.StopGrace)
		} else {
			g.WantWithin("the stop", time.Now().Add(-took), time.Now(), g.Input.StopGrace+time.Second)
		}
		g.UntilSeen(1, kit.Started, kit.By("b"))
		g.UntilAllHandled()
		g.WantAtMost(2, kit.Started)
	}, everywhere()...)
}

// E8. A static member that drains leaves the group: else its partitions would wait for its session to end, and its successor would get what it
// had last, nothing.
func TestAStaticMemberThatDrainsLeaves(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 4)
		g.Produce(3)
		g.Input.InstanceID, g.Input.CrashDetection = "a", 5*time.Minute
		a := team(g, 1)[0]
		g.UntilSeen(4, kit.Started)
		g.Input.InstanceID = "b"
		b := g.Start("b", lasts(taskTime))
		g.Until("both are members", func() bool { return len(b.Owns()) > 0 })
		a.Stop()
		began := g.Note("it has stopped")
		g.Until("the other one has all", func() bool { return len(b.Owns()) == 4 })
		g.WantWithin("its partitions move", began, time.Now(), 2*heartbeat)
		g.Input.InstanceID = "a" // a restart: the broker has kept nothing of it
		again := g.Start("again", lasts(taskTime))
		g.Until("it has its share", func() bool { return len(again.Owns()) == 2 && len(b.Owns()) == 2 })
		g.UntilAllHandled()
		wantUninterrupted(g, 12)
	}, kafka())
}

// A member stops before the coordinator has told it its id. It waits for that, and leaves: else the next round of the group would wait for
// its session timeout.
func TestAStopInTheFirstJoinHoldsNobodyUp(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 2)
		g.Input.CrashDetection = 5 * time.Minute
		a := team(g, 1)[0]
		g.Until("it has all", func() bool { return len(a.Owns()) == 2 })
		l := s.Broker.(kafkatest.Linked).Link(joinLink(s.Eager))
		t.Cleanup(func() { _ = l.Restore() })
		l.DelayWhere(netproxy.Match{Direction: netproxy.ToClient}, 300*time.Millisecond)
		b := g.Start("b", lasts(taskTime), func(c *consumer.Config) { c.Brokers, c.Sarama = l.Addrs(), l.Config() })
		g.Until("b has sent its first join", func() bool {
			return slices.ContainsFunc(l.Conns(), func(c netproxy.Conn) bool { return slices.Contains(c.Keys, joinGroup) })
		})
		b.Stop()
		began := g.Note("it has stopped")
		c := g.Start("c", lasts(taskTime))
		g.Until("the next one has its share", func() bool { return len(c.Owns()) == 1 })
		g.WantWithin("until it has it", began, time.Now(), 4*heartbeat)
	}, kafka())
}

// joinGroup is the API key of a JoinGroup.
const joinGroup = 11

// Without a grace nothing is waited for, and nobody drains.
func TestAStopWithoutAGraceDoesNotDrain(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 2)
		g.Input.StopGrace = config.NoGrace
		g.Produce(1)
		a := g.Start("a", kit.NewGate().Hold)
		g.UntilSeen(2, kit.Started)
		if took := a.Stop(); took > 2*time.Second+kit.Slack {
			g.Errorf("the stop took %v", took)
		}
		g.WantAtMost(1, kit.Assigned)
	}, everywhere()...)
}

type rebalanceHook func(consumer.Rebalance)

func (f rebalanceHook) OnRebalance(r consumer.Rebalance) { f(r) }

// A task ends while its member is between two sessions, so that the broker refuses its commit when the round has gone by; the stop comes before
// the next session, which would have stored it. The result is stored all the same, also where running tasks would be cancelled at once.
func TestAStopBetweenARoundAndItsSessionLosesNoResult(t *testing.T) {
	for name, grace := range map[string]time.Duration{"waits": time.Minute, "cancels": 0} {
		t.Run(name, func(t *testing.T) {
			kit.Each(t, func(t *testing.T, s kit.Setting) {
				g := group(t, s, 2)
				if g.Input.StopGrace = grace; grace == 0 {
					g.Input.Expected = time.Hour // of which the plan waits for none
				}
				gate, stop := kit.NewGate(), make(chan struct{})
				a := g.Start("a", gate.Hold, func(c *consumer.Config) {
					c.Hooks = append(c.Hooks, rebalanceHook(func(r consumer.Rebalance) {
						if r.Generation != 2 {
							return
						}
						gate.Open()
						<-stop // the session does not begin before
						time.Sleep(100 * time.Millisecond)
					}))
				})
				g.ProduceTo(0, 1)
				g.UntilSeen(1, kit.Started, kit.By("a"))
				g.Start("b", lasts(0))
				g.Until("its commit is answered", func() bool { // under the cooperative protocol its session has gone on
					return g.Count(kit.Refused, kit.By("a")) > 0 || !s.Eager && g.Count(kit.Committed, kit.AtOffset(1)) > 0
				})
				a.BeginStop()
				close(stop)
				a.AwaitStop()
				g.UntilAllHandled()
				wantUninterrupted(g, 1)
			}, everywhere()...)
		})
	}
}
