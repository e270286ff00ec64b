package ownership_test

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// E1. The broker asks who commits, and in which generation, but not who owns the partition: whoever has lost it has to keep quiet.
func TestE1ALateResultOverwritesNothing(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.Grace = config.NoGrace
		g.Produce(1)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, terms{}, gate.Ignore, w.member(g))
		r.takesOver()
		owned := g.Note("the rival owns the partition")
		end := r.handle(0)
		cancelled := g.UntilSeen(1, kit.Cancelled, kit.By("a"))[0]
		g.WantWithin("until the task of the one before is cancelled", owned, cancelled.At, 0)
		end()
		r.commit(1, rivals)
		gate.Open()
		g.UntilSeen(1, kit.Returned, kit.By("a"))
		awaitBeats(g, w)
		a.Stop()
		wantRivals(t, g)
		g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))
		g.WantAtMost(0, kit.Refused, kit.By("a"))
		g.WantAtMost(1, kit.Started, kit.By("a"))
		g.WantSound(nil)
	}, everywhere()...)
}

// E1. A commit that is on its way when the partition goes is refused, for its generation is over. It is not sent again with the next
// one, in which the partition is somebody else's: that would be accepted.
func TestE1ACommitIsNotSentAgainWithALaterGeneration(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.Grace = config.NoGrace
		g.Produce(1)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, terms{}, gate.Hold, w.member(g))
		before := w.count(offsetCommit)
		w.hold(offsetCommit)
		gate.Open()
		g.Until("the commit is on its way", func() bool { return w.count(offsetCommit) > before })
		r.takesOver()
		r.handle(0)()
		r.commit(1, rivals)
		w.pass(offsetCommit)
		g.Until("the commit is answered, or given up", func() bool {
			return g.Count(kit.Refused, kit.By("a"))+g.Count(kit.Dropped, kit.By("a")) > 0
		})
		awaitBeats(g, w)
		a.Stop()
		wantRivals(t, g)
		g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))
		g.WantAtMost(1, kit.Refused, kit.By("a"))
		g.WantAtMost(1, kit.Started, kit.By("a"))
		g.WantSound(nil)
	}, everywhere()...)
}

// awaitBeats waits for some heartbeats on the connection of the commits: what the member has to commit is on it before the last one.
func awaitBeats(g *kit.Group, w *wire) {
	sent := w.count(guard)
	g.Until("the member has sent some heartbeats", func() bool { return w.count(guard) > sent+2 })
}
