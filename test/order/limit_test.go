package order_test

import (
	"strconv"
	"testing"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B29. The broker takes texts of that many bytes. With 100 a small map fits, with 20 nothing of ours does.
func TestB29ABrokerThatTakesLittleMetadata(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{100, 20} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			b := kafkatest.Kafka(t, kafkatest.Options{Properties: map[string]string{"offset.metadata.max.bytes": strconv.Itoa(limit)}})
			t.Run("read", func(t *testing.T) { // by the member, from the broker
				onLimited(t, b, func(*kit.Group) {})
			})
			t.Run("told wrong", func(t *testing.T) { // by the user
				onLimited(t, b, func(g *kit.Group) { g.Input.Broker.MaxMetadataBytes = 4096 })
			})
		})
	}
}

// onLimited wants partition 0 to be committed whatever its map would be, and partition 1 not to notice.
func onLimited(t *testing.T, b kafkatest.Broker, change func(*kit.Group)) {
	const n, hole = 900, 300
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g, first, rest := s.Group(t, 2), kit.NewGate(), kit.NewGate()
		change(g)
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
		g.WantAtMost(0, kit.Started, kit.By("b"), kit.OnPartition(1))
		g.WantAtMost(0, kit.Started, kit.By("b"), kit.OnPartition(0), before(hole))
		g.WantSound(nil)
		if told := g.Count(kit.Logged, kit.By("a"), kit.Saying("offset.metadata.max.bytes")); told != 1 {
			g.Errorf("%d entries name the limit, want 1", told)
		}
	}, kit.Quietly([]kit.Place{kit.At("limited", b)})...)
}

func before(o int64) kit.Match { return func(e kit.Event) bool { return e.Offset < o } }
