package ownership_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// E5. Whoever has sent an eager join has given everything up, and the answer is lost: somebody else has the partition at once.
func TestE5ATaskEndsWithTheLeaseWhenTheAnswerToAJoinIsLost(t *testing.T) {
	eachEager(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.CrashDetection = short
		g.Produce(1)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, terms{rebalance: short}, lateSuccess(gate), w.member(g))
		w.deafen(joinGroup)
		r.join()
		r.give(r.id)
		owned := g.Expel(a) // for the rival owns the partition now
		r.handle(0)()
		r.commit(1, rivals)
		cancelled := g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.Is(handler.ErrLost))[0]
		g.WantWithin("until the task is cancelled", owned, cancelled.At, g.Plan().Lease)
		g.UntilSeen(1, kit.Returned, kit.By("a"))
		a.Stop()
		wantRivals(t, g)
		g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))
		g.WantAtMost(1, kit.Started, kit.By("a"))
		g.WantSound(nil)
	})
}

// G4. The heartbeats of sarama's session are lost, on the connection of the group alone. The session ends. Those of the lease arrive, the
// coordinator lets go of nothing, and the tasks go on into the next session.
func TestTasksOutliveLostHeartbeats(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		const n = 4
		g, gate, w := ledByOthers(t, s, 2), kit.NewGate(), newWire()
		g.Produce(n)
		running := 2 * g.AtOnce(n)
		a := g.Start("a", gate.Hold, w.member(g))
		g.UntilSeen(running, kit.Started)
		w.kill(heartbeat)
		ended := g.UntilSeen(1, kit.Ended)[0]
		if ended.Text == "rebalance" || ended.Text == "stop" {
			g.Errorf("the session ended by %s, want it to be for its heartbeats", ended.Text)
		}
		w.pass(heartbeat)
		g.UntilSeen(4, kit.Claimed)
		g.UntilSeen(2, kit.Logged, kit.Saying("are taken over"))
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(2*n, kit.Started)
		g.WantAtMost(0, kit.Cancelled)
		g.WantSound(nil)
	}, everywhere()...)
}

type sessionEndHook func(consumer.SessionEnd)

func (f sessionEndHook) OnSessionEnd(e consumer.SessionEnd) { f(e) }

// E10. A member that sends heartbeats and does not join, for a hook of its user's hangs, is removed when the rebalance timeout is over, and
// its partition has another owner that instant.
func TestE10ATaskEndsBeforeAMemberIsRemovedThatDoesNotJoin(t *testing.T) {
	eachEager(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.CrashDetection = short
		g.Produce(1)
		gate, hung := kit.NewGate(), kit.NewGate()
		r, a := led(t, g, terms{rebalance: short}, lateSuccess(gate), func(c *consumer.Config) {
			c.Hooks = append(c.Hooks, sessionEndHook(func(consumer.SessionEnd) { <-hung.Opened() }))
		})
		t.Cleanup(hung.Open)
		removed := overstay(t, g, r, func() {}) // it has let go by then
		g.WantAtMost(0, kit.Cancelled, kit.By("a"), kit.After(removed))
		hung.Open()
		a.Stop()
		wantRivals(t, g)
		g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))
		g.WantAtMost(1, kit.Started, kit.By("a"))
		g.WantSound(nil)
	})
}

// E10. The member's join has got lost, and to its knowledge it is out: as long as the round is open nobody can have the partition. The
// next heartbeat tells that the round has ended without it.
func TestE10ATaskEndsWithTheHeartbeatAfterTheRoundThatAMemberMissed(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.CrashDetection = short
		g.Produce(1)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, terms{rebalance: short}, lateSuccess(gate), w.member(g))
		w.lose(joinGroup)
		removed := overstay(t, g, r, func() { g.Expel(a) })
		cancelled, _ := g.First(kit.Cancelled, kit.By("a"))
		g.WantWithin("until the task is cancelled", removed, cancelled.At, g.Plan().HeartbeatInterval)
		a.Stop()
		wantRivals(t, g)
		g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))
		g.WantAtMost(1, kit.Started, kit.By("a"))
		g.WantSound(nil)
	}, everywhere()...)
}

// overstay begins a round that the member does not join, until the coordinator removes it for that, which is told, and the rival has its
// partition. It returns when that was.
func overstay(t *testing.T, g *kit.Group, r *rival, tell func()) (removed time.Time) {
	t.Helper()
	r.join()
	removed = g.Note("the round has ended without a")
	tell()
	r.give(r.id)
	r.handle(0)()
	r.commit(1, rivals)
	g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.Is(handler.ErrLost))
	g.UntilSeen(1, kit.Returned, kit.By("a"))
	return removed
}
