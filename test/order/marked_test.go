package order_test

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/test/kit"
)

// Over a group of the user's own sarama commits what is marked, the map with it. A next owner of that kind cannot read it, and replays; one
// with connections of its own does.
func TestTheMapIsLeftOverAGroupOfTheUserToo(t *testing.T) {
	const n = 30
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Keys *= n
		g.ProduceTo(0, n)
		held := func(o int64) bool { return o >= 6 && thirds(o) }
		lent, change := g.Lend()
		leaveHoles(t, g, n, held, change)
		lent.Leave()
		b := g.Start("b", instant)
		g.UntilSeen(1, kit.Committed, kit.By("b"), kit.AtOffset(n))
		b.Stop()
		wantStarted(g, "b", where(n, held)...)

		must(t, g.Broker.Commit(g.Name, g.Topic, 0, 20, "somebody else's"))
		lent, change = g.Lend()
		c := g.Start("c", instant, change)
		g.Until("all is committed again", func() bool { return g.Committed(0) == n })
		c.Stop()
		lent.Leave()
		wantStarted(g, "c", where(n, func(o int64) bool { return o >= 20 })...)
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}
