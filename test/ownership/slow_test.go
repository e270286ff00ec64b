package ownership_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/test/kit"
)

// slow are the terms of a rival that takes its time to join.
var slow = terms{rebalance: time.Minute}

// open begins a round, by a newcomer, in which a member of ours has joined and the rival has not. close lets the rival join, and gives all
// to the member.
func open(t *testing.T, g *kit.Group, r *rival, a *kit.Member, w *wire) (closeRound func()) {
	t.Helper()
	joins, id := w.count(joinGroup), a.Status().MemberID
	newcomer := newRival(t, g, "newcomer", terms{})
	joined := newcomer.beginJoin()
	g.Until("a's join is out", func() bool { return w.count(joinGroup) > joins })
	return func() {
		t.Helper()
		r.join()
		joined()
		r.give(id)
		newcomer.follow()
	}
}

// E11. Others may take longer to join than the lease lasts. Heartbeats of the member's own, while its join is pending, tell that nobody
// can have its partitions yet.
func TestE11TasksOutliveALongRound(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.CrashDetection = short
		g.Produce(2)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, slow, gate.Hold, w.member(g))
		closeRound := open(t, g, r, a, w)
		begin := g.Note("the round goes on")
		g.Until("the round has lasted for longer than the lease", func() bool { return time.Since(begin) > g.Plan().Lease+kit.Slack })
		closeRound()
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(0, kit.Cancelled)
		g.WantAtMost(2, kit.Started)
		g.WantSound(nil)
	}, everywhere()...)
}

// E12. A task ends while its member waits for the others. What it has done is stored at once, although nothing else can be sent on the
// connection of the join.
func TestE12ACommitDoesNotWaitForAJoin(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Produce(1)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, slow, gate.Hold, w.member(g))
		closeRound := open(t, g, r, a, w)
		begin := g.Note("the task may end")
		gate.Open()
		stored := g.UntilSeen(1, kit.Committed, kit.By("a"), kit.AtOffset(1))[0]
		g.WantWithin("until its commit is answered", begin, stored.At, 0)
		if o := g.Committed(0); o != 1 {
			g.Errorf("committed at %d, want 1", o)
		}
		closeRound()
		g.UntilSeen(2, kit.Assigned, kit.By("a"))
		a.Stop()
		g.WantAtMost(1, kit.Started)
		g.WantAtMost(0, kit.Refused)
		g.WantSound(nil)
	}, everywhere()...)
}

// E13. Between the end of a round and its assignment nobody can commit. The leader takes its time, and the commit waits for it.
func TestE13ACommitWaitsForAStalledLeader(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Produce(2)
		gate := kit.NewGate()
		r, a := led(t, g, terms{}, gate.Hold)
		r.join()
		gate.Open()
		g.UntilSeen(1, kit.Refused, kit.By("a"))
		r.give(r.other())
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(0, kit.Cancelled)
		g.WantAtMost(2, kit.Started)
		g.WantSound(nil)
	}, everywhere()...)
}

// E13. The leader dies there, and the next round is the member's own. A cooperative claim lives through it. An eager one has missed a
// generation: it cannot know that nobody had an assignment in it, and what was not committed runs again.
func TestE13ACommitOutlivesADeadLeader(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Produce(2)
		gate := kit.NewGate()
		r, a := led(t, g, terms{session: 3 * time.Second}, gate.Hold)
		r.join()
		r.die()
		gate.Open()
		g.UntilSeen(1, kit.Refused, kit.By("a"))
		g.UntilAllHandled()
		a.Stop()
		g.WantSound(nil)
		g.WantAtMost(0, kit.Cancelled)
		again := 0
		if s.Eager {
			again = 1
		}
		g.WantAtMost(1+again, kit.Started, kit.AtOffset(0))
		g.WantAtMost(1, kit.Started, kit.AtOffset(1))
	}, everywhere()...)
}

// The connection breaks under a join that waits for the others. Under the cooperative protocol sarama lets the session go then, without a
// cause, as at a stop: the tasks go on all the same.
func TestTasksOutliveAJoinThatBreaks(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Produce(2)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, slow, gate.Hold, w.member(g))
		closeRound := open(t, g, r, a, w)
		joins := w.count(joinGroup)
		w.cut()
		g.Until("a joins again", func() bool { return w.count(joinGroup) > joins })
		awaitBeats(g, w) // by then that join has arrived too: one that came after the others' would begin another round
		closeRound()
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(0, kit.Cancelled)
		g.WantAtMost(2, kit.Started)
		g.WantSound(nil)
	}, everywhere()...)
}
