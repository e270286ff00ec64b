package ownership_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// E13, D6-8. The leader dies between its join and its sync, with a session that lasts for longer than our lease. Until the broker has given it
// up nobody can have an assignment, and the tasks of the others go on. A cooperative claim lives through the round that comes to nothing. An
// eager one has missed a generation then, as when the leader dies soon.
func TestE13ADeadLeaderIsSatOut(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Produce(2)
		gate := kit.NewGate()
		r, a := led(t, g, terms{session: 30 * time.Second}, gate.Hold)
		r.join()
		r.die()
		died := g.Note("the leader is dead")
		again := g.UntilSeen(2, kit.Assigned, kit.By("a"))[1]
		if lasted := again.At.Sub(died); lasted < g.Plan().Lease+kit.Slack {
			g.Errorf("the round has lasted for %v, want longer than the lease of %v", lasted, g.Plan().Lease)
		}
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		for _, e := range g.Find(kit.Cancelled) {
			if !s.Eager || e.At.Before(again.At) {
				g.Errorf("a task was cancelled: %v", e)
			}
		}
		restarts := 0
		if s.Eager {
			restarts = 1
		}
		g.WantAtMost(2+restarts, kit.Started)
	}, everywhere()...)
}

// E13, D6-8. The leader takes its time between its join and its sync, for longer than our lease lasts: nobody can have an assignment before.
func TestE13AStalledLeaderIsSatOut(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.CrashDetection = short
		g.Produce(2)
		gate := kit.NewGate()
		r, a := led(t, g, slow, gate.Hold)
		r.join()
		begin := g.Note("the leader stalls")
		g.Until("it has stalled for longer than our timeouts", func() bool { return time.Since(begin) > short+kit.Slack })
		r.give(r.other())
		g.UntilSeen(2, kit.Assigned, kit.By("a"))
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(0, kit.Cancelled)
		g.WantAtMost(2, kit.Started)
	}, everywhere()...)
}

// E5, E13. The leader has stalled, and then gives the partition to itself. The answer that would say so is lost, and heartbeats in the new
// generation are answered well: they prove nothing from then on.
func TestE5ATaskEndsWithTheLeaseWhenTheAnswerToASyncIsLost(t *testing.T) {
	eachEager(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.CrashDetection = short
		g.Produce(1)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, slow, lateSuccess(gate), w.member(g))
		w.deafen(syncGroup)
		r.join()
		begin := g.Note("the leader stalls")
		g.Until("it has stalled for longer than an interval", func() bool { return time.Since(begin) > 4*g.Plan().HeartbeatInterval })
		r.give(r.id)
		owned := g.Note("the rival owns the partition")
		r.handle(0)()
		r.commit(1, rivals)
		cancelled := g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.Is(handler.ErrLost))[0]
		g.WantWithin("until the task is cancelled", owned, cancelled.At, g.Plan().Lease)
		g.UntilSeen(1, kit.Returned, kit.By("a"))
		a.Stop()
		wantRivals(t, g)
		g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))
		g.WantAtMost(1, kit.Started, kit.By("a"))
	})
}

// E10, E13. The member's sync gets lost, and to its knowledge it is out. The broker removes it a rebalance timeout after the round, with the
// leader, and the next heartbeat says so.
func TestE10ATaskEndsWithTheHeartbeatAfterTheRoundWhoseSyncIsLost(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.CrashDetection = short
		g.Produce(1)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, terms{rebalance: short}, lateSuccess(gate), w.member(g))
		w.lose(syncGroup)
		r.join()
		begin := g.Note("the leader stalls")
		removed := g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.Is(handler.ErrLost))[0]
		g.WantWithin("until the task is cancelled", begin, removed.At, short+g.Plan().HeartbeatInterval)
		a.Stop()
	}, everywhere()...)
}
