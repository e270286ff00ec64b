package group_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// brief is a task that takes a moment.
func brief(ctx context.Context, _ *handler.Task) error {
	select {
	case <-time.After(20 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// feed produces to all partitions until the returned function is called.
func feed(g *kit.Group) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // ends with cancel, and stop waits for it
		defer close(done)
		for ctx.Err() == nil {
			g.Produce(1)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// B30.
func TestB30TheFirstMemberGoesOnAfterEveryChange(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 4)
		enough := feed(g)
		defer enough()
		a := g.Start("a", brief)
		g.UntilSeen(4, kit.Committed, kit.By("a"))
		for i := range 3 {
			b := g.Start(fmt.Sprint("b", i), brief)
			g.Until("the second works", func() bool { return b.Status().Succeeded > 0 })
			untilWorking(g, a, 2)
			b.Stop()
			untilWorking(g, a, 4)
		}
		if a.Err() != nil {
			t.Errorf("Run returned by itself: %v", a.Err())
		}
		enough()
		g.UntilAllHandled()
		a.Stop()
		wantNeverExpelled(g)
	}, everywhere()...)
}

// untilWorking waits until the member owns that many partitions, and then until it commits messages that it started on each of them
// from now on.
func untilWorking(g *kit.Group, m *kit.Member, partitions int) {
	g.Until(m.Name+" owns its share", func() bool { return len(m.Owns()) == partitions })
	now := g.Note("%s owns its share", m.Name)
	for _, p := range m.Owns() {
		at := g.UntilSeen(1, kit.Started, kit.By(m.Name), kit.OnPartition(p), kit.After(now))[0].Offset
		g.UntilSeen(1, kit.Committed, kit.By(m.Name), kit.OnPartition(p), kit.From(at+1))
	}
}

// B41. A metadata refresh is a minute apart from the next.
func TestB41AddedPartitionsAreClaimed(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Produce(2)
		gate := kit.NewGate()
		a, b := g.Start("a", gate.Hold), g.Start("b", gate.Hold)
		g.Until("each works on one", func() bool { return a.Status().Running == 1 && b.Status().Running == 1 })
		before := g.Count(kit.Started)

		begin := g.Grow(4)
		g.ProduceTo(2, 2)
		g.ProduceTo(3, 2)
		g.UntilWithin(2*time.Minute, "the new ones are worked on", func() bool {
			return g.Count(kit.Started, kit.OnPartition(2), kit.AtOffset(0)) > 0 && g.Count(kit.Started, kit.OnPartition(3), kit.AtOffset(0)) > 0
		})
		plan := g.Plan()
		g.WantWithin("claimed and started", begin, time.Now(), plan.MetadataRefresh+plan.RebalanceTimeout)
		g.Until("all four are worked on", func() bool { return a.Status().Running+b.Status().Running == 4 })
		for p := range int32(2) { // joining took runs too: what counts is what came after
			g.WantAtMost(1, kit.Started, kit.OnPartition(p), kit.AtOffset(0), kit.After(begin))
		}
		gate.Open()
		g.UntilAllHandled()
		g.WantAtMost(before+2+6, kit.Started)
		a.Stop()
		b.Stop()
		wantNeverExpelled(g)
	}, everywhere()...)
}
