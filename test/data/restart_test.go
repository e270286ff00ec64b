package data_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// modes are the ways in which offsets are committed: each at once, a few times a second, and by sarama over a group of the user.
var modes = map[string]struct {
	expected time.Duration
	over     func(*testing.T, *kit.Group) (*lent, func(*consumer.Config))
}{
	"at once": {10 * time.Minute, lendNothing},
	"batched": {10 * time.Millisecond, lendNothing},
	"marked":  {10 * time.Minute, lendGroup},
}

func lendNothing(*testing.T, *kit.Group) (*lent, func(*consumer.Config)) {
	return &lent{}, func(*consumer.Config) {}
}

// B24.
func TestB24AStopCommitsExactlyWhatIsFinished(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
				g := s.Group(t, 3)
				g.Input.Expected, g.Input.StopGrace = mode.expected, config.NoGrace
				g.Produce(10)
				l, change := mode.over(t, g)
				stopAtFive(t, g, change)
				l.close()
				_, change = mode.over(t, g)
				g.Start("b", instant, change)
				for p := range g.Partitions {
					g.Until("all is committed", func() bool { return g.Committed(p) == 10 })
					// By key and without order the sixth message need not be the first one to start.
					starts := g.Find(kit.Started, kit.By("b"), kit.OnPartition(p))
					first := slices.MinFunc(starts, func(x, y kit.Event) int { return cmp.Compare(x.Offset, y.Offset) })
					if first.Offset != 5 || s.Order == handler.ByPartition && starts[0].Offset != 5 {
						g.Errorf("partition %d was resumed at %d, want 5", p, first.Offset)
					}
				}
				g.WantAtMost(15, kit.Started, kit.By("b"))
				g.WantSound(nil)
			}, everywhere()...)
		})
	}
}

// stopAtFive stops a member that has finished five messages of each partition and is at the sixth.
func stopAtFive(t *testing.T, g *kit.Group, change func(*consumer.Config)) {
	t.Helper()
	a := g.Start("a", func(ctx context.Context, t *handler.Task) error {
		if t.Offset < 5 {
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}, change)
	for p := range g.Partitions {
		g.UntilSeen(1, kit.Started, kit.OnPartition(p), kit.AtOffset(5))
	}
	g.Until("what comes before is done", func() bool { return a.Status().Succeeded == 15 }) // by key others may be late
	a.Stop()
	for p := range g.Partitions {
		if o := g.Committed(p); o != 5 {
			g.Errorf("partition %d is committed at %d, want 5", p, o)
		}
	}
	g.WantAtMost(15+3*g.AtOnce(5), kit.Started, kit.By("a"))
}
