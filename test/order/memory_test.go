package order_test

import (
	"context"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

const (
	piece  = 10 << 10 // of a message
	pieces = 200      // of a partition
	// underWay is what comes after a pause, at most: an answer to a fetch, what lies in a claim's channel, and a message beyond the fetch.
	underWay = 64<<10 + 3*piece
)

// A long backlog, in tasks that do not end before all partitions are full.
func TestAMemberHoldsNoMoreThanItsBounds(t *testing.T) {
	const partitions = 8
	t.Parallel()
	for name, total := range map[string]int64{"each": 1 << 30, "total": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
				g, gate := s.Group(t, partitions), kit.NewGate()
				g.Slots = partitions
				g.ProduceHeavy(pieces, piece)
				m := g.Start("a", gate.Hold, func(c *consumer.Config) { c.BacklogBytes = total })
				each := g.Plan().BacklogBytes
				total := min(total, partitions*each)
				most := weigh(g, m, gate)
				t.Logf("at most %d kB of a partition, and %d kB in all", most.each>>10, most.all>>10)
				// The bound of a partition leaves out what runs, which the slots bound.
				if most.each > each+underWay+partitions*piece || most.all > total+partitions*underWay {
					g.Errorf("the member held %d kB of a partition and %d kB in all, want %d and %d", most.each>>10, most.all>>10, each>>10, total>>10)
				}
				if most.all < total/2 {
					g.Errorf("the member held %d kB at most: the bound was not reached", most.all>>10)
				}
				m.Stop()
				g.WantSound(nil)
			}, kit.Quietly(everywhere())...)
		})
	}
}

type weight struct{ each, all int64 }

// weigh looks at what a member holds until all is handled. It opens the gate once no partition takes more.
func weigh(g *kit.Group, m *kit.Member, gate *kit.Gate) (most weight) {
	look := func() (full bool) {
		now, claims := weight{}, m.Status().Claims
		full = len(claims) == int(g.Partitions)
		for _, c := range claims {
			now.each, now.all = max(now.each, c.Bytes), now.all+c.Bytes
			full = full && c.Paused
		}
		most.each, most.all = max(most.each, now.each), max(most.all, now.all)
		return full
	}
	g.Until("all partitions are full", look)
	for range 50 { // what is under way comes in
		look()
		time.Sleep(10 * time.Millisecond)
	}
	gate.Open()
	g.Until("all is handled", func() bool {
		look()
		return m.Status().Succeeded == pieces*int64(g.Partitions)
	})
	return most
}

// A partition whose tasks do not end holds as much as it may, and more than the member may hold in all. The others go on.
func TestAPausedPartitionStarvesNoOther(t *testing.T) {
	const n = 48 // many more than two fetches bring: the one that fills the partition, and the one that is under way then
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g, gate := s.Group(t, 4), kit.NewGate()
		g.ProduceHeavy(n, piece)
		m := g.Start("a", func(ctx context.Context, t *handler.Task) error {
			if t.Partition == 0 {
				return gate.Hold(ctx, t)
			}
			return nil
		}, func(c *consumer.Config) {
			c.BacklogBytes = 1
			if s.Order != handler.ByPartition {
				c.PartitionSlots = 2
			}
		})
		for p := int32(1); p < g.Partitions; p++ {
			g.UntilSeen(1, kit.Committed, kit.OnPartition(p), kit.AtOffset(n))
		}
		if st := m.Status().Claims[0]; !st.Paused || st.Backlog >= n {
			g.Errorf("partition 0 is not full: %+v", st)
		}
		gate.Open()
		g.UntilAllHandled()
		m.Stop()
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}
