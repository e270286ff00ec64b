package order_test

import (
	"context"
	"testing"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// turnstile is a handler that lets one task end at a time, when the test says so.
type turnstile struct{ pass chan struct{} }

func newTurnstile() *turnstile { return &turnstile{make(chan struct{})} }

func (d *turnstile) handle(ctx context.Context, _ *handler.Task) error {
	select {
	case <-d.pass:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// passUntil lets tasks end, each when the next one has started in the place of the one before, and says how many that took.
func (d *turnstile) passUntil(g *kit.Group, done func() bool) (passed int) {
	for ; !done(); passed++ {
		started := g.Count(kit.Started)
		d.pass <- struct{}{}
		g.UntilSeen(started+1, kit.Started)
	}
	return passed
}

// One partition has a message now and then, among nine with a long backlog, and four slots. The message starts within two rotations: its
// wait is counted in starts of others, which no machine is too slow for.
func TestATrickleStartsWithinTwoRotations(t *testing.T) {
	const partitions, slots, rounds = 10, 4, 8
	const rare = int32(partitions - 1)
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g, door := s.Group(t, partitions), newTurnstile()
		g.Slots = slots
		for p := range rare {
			g.ProduceTo(p, 60)
		}
		m := g.Start("a", door.handle)
		g.Until("the slots are taken and all partitions wait", func() bool { return m.Status().Running == slots && waiting(m, rare) == 9 })
		for i := range int64(rounds) {
			g.ProduceTo(rare, 1)
			g.Until("the rare message waits", func() bool { return waits(m, rare) })
			others := door.passUntil(g, func() bool { return g.Count(kit.Started, kit.OnPartition(rare), kit.AtOffset(i)) > 0 })
			if others > 2*partitions {
				g.Fatalf("%d others have started since the message of partition %d came", others, rare)
			}
			door.passUntil(g, func() bool { return g.Count(kit.Returned, kit.OnPartition(rare), kit.AtOffset(i)) > 0 })
			g.Until("it is settled", func() bool { return !waits(m, rare) })
		}
		close(door.pass)
		g.UntilAllHandled()
		m.Stop()
		g.WantSound(nil)
	}, kit.Quietly([]kit.Place{kit.Fake})...)
}

// waiting counts the claims of partitions below one that have messages.
func waiting(m *kit.Member, below int32) (n int) {
	for _, c := range m.Status().Claims {
		if c.Partition < below && c.Backlog > 0 {
			n++
		}
	}
	return n
}

func waits(m *kit.Member, partition int32) bool {
	for _, c := range m.Status().Claims {
		if c.Partition == partition {
			return c.Backlog > 0
		}
	}
	return false
}

// A key with all the messages of the backlog holds up no other key: the one message of another, behind all of them, starts beside the first.
func TestAHotKeyHoldsUpNoOther(t *testing.T) {
	const n = 900
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		s.Order = handler.ByKey
		g, gate := s.Group(t, 1), kit.NewGate()
		g.Slots, g.Keys = 2, 1
		g.ProduceTo(0, n)
		g.Keys = 0
		g.ProduceTo(0, 1)
		m := g.Start("a", gate.Hold)
		g.UntilSeen(1, kit.Started, kit.AtOffset(n))
		g.WantAtMost(2, kit.Started)
		gate.Open()
		g.UntilAllHandled()
		m.Stop()
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}
