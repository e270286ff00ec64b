package ownership_test

import (
	"context"
	"testing"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// E3, in a cooperative session that lives on: the leader does not withhold the partition, though the member reports that it owns it.
func TestE3AMissedGenerationInALiveSessionIsNoProof(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Produce(3)
		first, rest, w := kit.NewGate(), kit.NewGate(), newWire()
		r, a := led(t, g, terms{}, func(ctx context.Context, t *handler.Task) error {
			if t.Offset == 0 {
				return first.Hold(ctx, t)
			}
			return rest.Hold(ctx, t)
		}, w.member(g))
		w.hold(syncGroup)
		r.join()
		r.give(r.id)
		r.handle()()
		r.commit(2, rivals) // the first two messages are done
		joined := r.beginJoin()
		r.awaitCall()
		w.pass(syncGroup)
		joined()
		r.give(a.Status().MemberID)
		g.UntilSeen(2, kit.Assigned, kit.By("a"))
		awaitBeats(g, w)
		first.Open()
		g.UntilSeen(2, kit.Started, kit.By("a"))
		awaitBeats(g, w)
		if o, text, _ := g.Broker.Committed(g.Name, g.Topic, 0); o < 2 {
			g.Errorf("committed went back from 2 to %d with %q", o, text)
		}
		g.WantAtMost(0, kit.Started, kit.By("a"), kit.AtOffset(1))
		rest.Open()
		g.UntilSeen(1, kit.Committed, kit.By("a"), kit.AtOffset(3))
		a.Stop()
	}, everywhere()...)
}
