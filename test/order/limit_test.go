package order_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B29. The broker takes texts of that many bytes, and says so. With 100 a small map fits, with 20 nothing of ours does: then one task of a
// partition runs at a time, as soon as one is unfinished.
func TestB29ABrokerThatTakesLittleMetadata(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{100, 20} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			b := kafkatest.Kafka(t, kafkatest.Options{Properties: map[string]string{"offset.metadata.max.bytes": strconv.Itoa(limit)}})
			onLimited(t, b)
		})
	}
}

// onLimited wants partition 0 to be committed whatever its map would be, and partition 1 not to notice.
func onLimited(t *testing.T, b kafkatest.Broker) {
	t.Helper()
	const n, hole = 900, 300
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g, first, rest := s.Group(t, 2), kit.NewGate(), kit.NewGate()
		g.Input.StopGrace = config.NoGrace
		g.Slots, g.Keys = n, g.Keys*n
		g.Produce(n)
		a := g.Start("a", stages(first, rest, hole))
		g.UntilSeen(1, kit.Committed, kit.OnPartition(1), kit.AtOffset(n))
		g.Until("partition 0 waits for its first one", func() bool { return g.Count(kit.Started, kit.OnPartition(0), kit.AtOffset(0)) == 1 })
		first.Open()
		g.Until("partition 0 is at its hole", func() bool { return g.Count(kit.Started, kit.OnPartition(0), kit.AtOffset(hole)) == 1 })
		g.UntilSeen(1, kit.Committed, kit.OnPartition(0), kit.AtOffset(hole))
		a.Stop()
		if o := g.Committed(0); o != hole {
			g.Errorf("partition 0 is committed at %d, want %d", o, hole)
		}
		b := g.Start("b", instant)
		g.UntilAllHandled()
		b.Stop()
		// What does not fit is not started either: all that was finished is known.
		for p := range g.Partitions {
			if got := g.Offsets(kit.Returned, kit.OnPartition(p), kit.Well()); !slices.Equal(got, where(n, all)) {
				g.Errorf("%d good runs on partition %d, want one of each of %d", len(got), p, n)
			}
		}
		g.WantAtMost(0, kit.Refused)
		g.WantSound(nil)
	}, kit.Quietly([]kit.Place{kit.At("limited", b)})...)
}
