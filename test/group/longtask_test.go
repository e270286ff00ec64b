package group_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B13. The tasks last until the gate opens, which is after both rebalances: much longer than any R.
func TestB13LongTasksDoNotHoldUpARebalance(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 4)
		g.Input.StopGrace = config.NoGrace
		g.Produce(2)
		gate, each := kit.NewGate(), g.AtOnce(2)
		r := g.Plan().RebalanceTimeout
		a := g.Start("a", gate.Hold)
		g.Until("a works on all", func() bool { return a.Status().Running == 4*each })
		inFlight := a.Status().Running

		begin := time.Now()
		b := g.Start("b", gate.Hold)
		g.Until("both own partitions", func() bool { return len(a.Owns()) > 0 && len(b.Owns()) > 0 })
		g.WantWithin("join: both own partitions", begin, time.Now(), r)
		g.Until("both work on two", func() bool { return a.Status().Running == 2*each && b.Status().Running == 2*each })
		inFlight += 4 * each

		begin = time.Now()
		b.Stop()
		g.Until("the first works on all", func() bool { return a.Status().Running == 4*each })
		g.WantWithin("leave: the first works on all", begin, time.Now(), r)

		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(8+inFlight, kit.Started)
		if !s.Eager { // what stays is not even interrupted
			g.WantAtMost(2*each, kit.Cancelled, kit.By("a"))
		}
		wantNeverExpelled(g)
		g.WantAtMost(0, kit.Troubled)
		g.WantSound(nil)
	}, everywhere()...)
}

// wantNeverExpelled says that each session ended by a rebalance or a stop, and that each member kept its id.
func wantNeverExpelled(g *kit.Group) {
	ids := map[string]string{}
	for _, e := range g.Find(kit.Ended) {
		if e.Text != "rebalance" && e.Text != "stop" {
			g.Errorf("%s: session of generation %d ended by %s: %v", e.Member, e.Generation, e.Text, e.Err)
		}
		if id := ids[e.Member]; id != "" && id != e.MemberID {
			g.Errorf("%s was %s and is %s now", e.Member, id, e.MemberID)
		}
		ids[e.Member] = e.MemberID
	}
	g.WantAtMost(0, kit.Refused, kit.Is(sarama.ErrUnknownMemberId))
}
