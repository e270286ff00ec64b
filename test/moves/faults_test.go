package moves_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// A task that never ends and has to make room is stopped past the hold limit, and its partition moves.
func TestAStubbornTaskMovesAtTheHoldLimit(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 2)
		g.Input.HoldLimit, g.Input.StopGrace = 5*time.Second, config.NoGrace
		g.Produce(1)
		a := g.Start("a", kit.NewGate().Hold)
		g.UntilSeen(2, kit.Started)
		b := g.Start("b", lasts(0))
		g.UntilSeen(1, kit.Started, kit.By("b"))
		if got := g.Find(kit.Cancelled, kit.By("a")); len(got) != 1 || got[0].At.Sub(g.Find(kit.Started)[0].At) < g.Input.HoldLimit {
			g.Errorf("cancelled %v, want one task past the limit", got)
		}
		untilBalanced(g, a, b)
		if s := a.Status(); s.Running != 1 {
			g.Errorf("%d tasks run in a, want the one that need not move", s.Running)
		}
	}, everywhere()...)
}

// victim is a member of six partitions with four messages each, which leads its group and can be killed.
func victim(t *testing.T, s kit.Setting) (*kit.Group, *kit.Process) {
	t.Helper()
	g := group(t, s, 6)
	g.Input.CrashDetection = 6 * time.Second
	g.Produce(4)
	p := g.StartProcess("victim", "work")
	g.UntilSeen(6, kit.Started, kit.By("victim"))
	return g, p
}

// A member is killed that holds partitions which it is to hand over: they move when its session has ended, and nothing else is interrupted.
func TestAMemberIsKilledThatHoldsHandOvers(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, a := victim(t, s)
		b, c := g.Start("b", lasts(taskTime)), g.Start("c", lasts(taskTime))
		g.Until("both are members", func() bool { return b.Status().Rebalances > 0 && c.Status().Rebalances > 0 })
		a.Kill()
		untilBalanced(g, b, c)
		g.UntilAllHandled()
		g.WantAtMost(0, kit.Cancelled, kit.By("b"))
		g.WantAtMost(0, kit.Cancelled, kit.By("c"))
		g.WantAtMost(24+6, kit.Started)
	}, everywhere()...)
}

// The network of a member is cut that holds such partitions. It cancels its own tasks before others have them, nothing else is interrupted,
// and it gets its share again when it is back.
func TestAMemberIsCutOffThatHoldsHandOvers(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 6)
		g.Input.CrashDetection = 6 * time.Second
		g.Produce(4)
		l := s.Broker.(kafkatest.Linked).Link(cutLink(s.Eager))
		t.Cleanup(func() { _ = l.Restore() })
		a := g.Start("cut off", lasts(taskTime), func(c *consumer.Config) { c.Brokers, c.Sarama = l.Addrs(), l.Config() })
		g.UntilSeen(6, kit.Started)
		b, c := g.Start("b", lasts(taskTime)), g.Start("c", lasts(taskTime))
		g.Until("both are members", func() bool { return b.Status().Rebalances > 0 && c.Status().Rebalances > 0 })
		g.Note("the network is cut")
		l.Cut()
		untilBalanced(g, b, c)
		if n := a.Status().Running; n > 0 {
			g.Errorf("%d tasks of the member that is cut off run on", n)
		}
		if err := l.Restore(); err != nil {
			t.Fatal(err)
		}
		g.Note("the network is whole")
		untilBalanced(g, a, b, c)
		g.UntilAllHandled()
		g.WantAtMost(0, kit.Cancelled, kit.By("b"))
		g.WantAtMost(0, kit.Cancelled, kit.By("c"))
		g.WantAtMost(24+2*6, kit.Started) // within its lease each task may end, which nobody can store any more, and another one begin
	}, kafka())
}

// The leader is killed while others join: whoever leads next finds the marks in the reports.
func TestTheLeaderIsKilledInARebalance(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, leader := victim(t, s)
		b := g.Start("b", lasts(taskTime))
		g.UntilSeen(1, kit.Started, kit.By("b"))
		c := g.Start("c", lasts(taskTime))
		leader.Kill()
		untilBalanced(g, b, c)
		g.UntilAllHandled()
		g.WantAtMost(24+6, kit.Started)
	}, everywhere()...)
}

// A deaf task that does not return keeps its partition, and nothing else.
func TestADeafTaskKeepsItsPartition(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 4)
		g.Input.HoldLimit, g.Input.StopGrace = 3*time.Second, time.Second
		gate := kit.NewGate()
		t.Cleanup(gate.Open)
		g.ProduceTo(0, 1)
		a := g.Start("a", handler.Func(gate.Ignore))
		g.UntilSeen(1, kit.Started)
		b := g.Start("b", lasts(0))
		untilBalanced(g, a, b)
		c := g.Start("c", lasts(0))
		untilBalanced(g, a, b, c)
		time.Sleep(2 * g.Input.HoldLimit)
		if a.Status().Running != 1 || g.Count(kit.Started) != 1 {
			g.Errorf("%d tasks run in a, %d starts", a.Status().Running, g.Count(kit.Started))
		}
		gate.Open()
		g.UntilAllHandled()
	}, everywhere()...)
}
