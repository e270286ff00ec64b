package order_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// tenLast is done with message 12 first and with 11 then, and with 10 when the gate opens.
func tenLast(g *kit.Gate) handler.Func {
	twelve := kit.NewGate()
	return func(ctx context.Context, t *handler.Task) error {
		switch t.Offset {
		case 10:
			return g.Hold(ctx, t)
		case 11:
			return twelve.Hold(ctx, t)
		default:
			twelve.Open()
			return nil
		}
	}
}

// atTen makes a group that stands at message 10 of 13, with three slots.
func atTen(t *testing.T, s kit.Setting) *kit.Group {
	t.Helper()
	g := s.Group(t, 1)
	g.Input.CrashDetection = 6 * time.Second
	g.Slots, g.Base = 3, 10
	g.ProduceTo(0, 13)
	must(t, g.Broker.Commit(g.Name, g.Topic, 0, 10, ""))
	g.Watch()
	return g
}

// B22.
func TestB22OnlyTheUnfinishedTaskRunsAgainAfterAKill(t *testing.T) {
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g := atTen(t, s)
		a := g.StartProcess("a", "10 last")
		g.UntilFinished(0, 10, 11, 12)
		a.Kill()
		g.UntilFinished(0, 10, 11, 12)
		b := g.Start("b", instant)
		g.UntilAllHandled()
		b.Stop()
		wantStarted(g, "b", 10)
		g.WantSound(nil)
	}, everywhere()...)
}

// B22, without the kill.
func TestB22TheCommitPassesAllThatIsFinishedAtOnce(t *testing.T) {
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g, gate := atTen(t, s), kit.NewGate()
		a := g.Start("a", tenLast(gate))
		g.UntilFinished(0, 10, 11, 12)
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(0, kit.Committed, kit.AtOffset(11))
		g.WantAtMost(0, kit.Committed, kit.AtOffset(12))
		g.UntilFinished(0, 13)
		g.WantSound(nil)
	}, everywhere()...)
}

// wantStarted wants a member to have started just these messages of the one partition, each once, in whatever order.
func wantStarted(g *kit.Group, member string, offsets ...int64) {
	if got := g.Offsets(kit.Started, kit.By(member)); !slices.Equal(got, offsets) {
		g.Errorf("%s started %v, want %v", member, got, offsets)
	}
}

// where lists the offsets below n that match.
func where(n int64, match func(o int64) bool) (list []int64) {
	for o := range n {
		if match(o) {
			list = append(list, o)
		}
	}
	return list
}

// Ten thousand messages end behind one slow task, scattered among three thousand others that do not.
func TestTenThousandFinishedBehindASlowTaskRunOnce(t *testing.T) {
	const n, held = 13_000, 3_000
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g, gate, slow := s.Group(t, 1), kit.NewGate(), scattered(n, held)
		g.Input.StopGrace, g.Slots, g.Keys = config.NoGrace, held+50, g.Keys*n // a key each
		g.ProduceTo(0, n)
		a := g.Start("a", holding(gate, func(o int64) bool { return slow[o] }))
		g.Until("all but the slow ones are done", func() bool {
			st := a.Status()
			return st.Running == held && st.Succeeded == n-held
		})
		a.Stop()
		state, text := g.State(0)
		if got := len(kit.OffsetsOf(state.Finished)); state.Next != 0 || got != n-held || len(text) > 4096 {
			g.Fatalf("committed at %d with %d in a map of %d bytes", state.Next, got, len(text))
		}
		b := g.Start("b", instant)
		g.Until("the rest is done", func() bool { return b.Status().Succeeded == held })
		b.Stop()
		if got := g.Offsets(kit.Started, kit.By("b")); !slices.Equal(got, where(n, func(o int64) bool { return slow[o] })) {
			g.Errorf("%d starts by the next owner are not those of the %d that were not finished", len(got), held)
		}
		g.WantSound(nil)
	}, kit.Quietly([]kit.Place{kit.Fake})...)
}

// The partition moves from a to b and back in rebalances, with holes left each time. Under both protocols each message of it has one good run.
func TestTheMapMovesWithThePartitionAndBack(t *testing.T) {
	const n = 30
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g, here, there := s.Group(t, 2), kit.NewGate(), kit.NewGate()
		g.Input.StopGrace = config.NoGrace
		g.Keys *= 2 // the holes of a are of two keys, those of b of one
		g.Produce(n)
		g.Watch()
		a := g.Start("a", holding(here, thirds))
		for p := range g.Partitions {
			g.UntilFinished(p, 0, where(n, not(thirds))...)
		}
		b := g.Start("b", holding(there, sixths))
		g.Until("each owns one", func() bool { return len(a.Owns()) == 1 && len(b.Owns()) == 1 })
		moved := b.Owns()[0]
		g.UntilFinished(moved, 0, where(n, not(sixths))...)
		b.Stop()
		g.UntilFinished(moved, 0, where(n, not(sixths))...)
		g.Until("a owns both again", func() bool { return len(a.Owns()) == 2 })
		here.Open()
		g.UntilAllHandled()
		a.Stop()
		if got := g.Offsets(kit.Returned, kit.OnPartition(moved), kit.Well()); !slices.Equal(got, where(n, all)) {
			g.Errorf("good runs of the partition that moved: %v, want one of each of %d", got, n)
		}
		g.WantSound(nil)
	}, everywhere()...)
}

func thirds(o int64) bool { return o%3 == 0 }
func sixths(o int64) bool { return o%6 == 0 }
func all(int64) bool      { return true }

func not(match func(int64) bool) func(int64) bool { return func(o int64) bool { return !match(o) } }
