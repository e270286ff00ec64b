package group_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// stubborn is a handler that ignores its context: each call lasts until the test lets it end.
type stubborn struct {
	mu    sync.Mutex
	calls []call
	over  bool
}

type call struct {
	partition int32
	gate      *kit.Gate
}

func newStubborn(t *testing.T) *stubborn {
	t.Helper()
	s := &stubborn{}
	t.Cleanup(s.endAll)
	return s
}

func (s *stubborn) handle(ctx context.Context, t *handler.Task) error {
	gate := kit.NewGate()
	s.mu.Lock()
	if s.over {
		gate.Open()
	}
	s.calls = append(s.calls, call{t.Partition, gate})
	s.mu.Unlock()
	return gate.Ignore(ctx, t)
}

// end lets the running calls for a partition succeed.
func (s *stubborn) end(partition int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.partition == partition {
			c.gate.Open()
		}
	}
}

// endAll lets all calls succeed, later ones too.
func (s *stubborn) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, c := range s.calls {
		c.gate.Open()
	}
}

// B14. No task of the first member ends before the test says so, which is long after R.
func TestB14AStubbornHandlerHoldsUpNobody(t *testing.T) {
	kit.EachOrder(t, holdUp, everywhere()...)
}

func holdUp(t *testing.T, s kit.Setting) {
	t.Helper()
	g := s.Group(t, 2)
	g.Input.StopGrace = config.NoGrace
	g.Produce(2)
	own, gate, each := newStubborn(t), kit.NewGate(), g.AtOnce(2)
	a := g.Start("a", own.handle)
	g.UntilSeen(2*each, kit.Started)

	b, moved := joinBeside(g, "b", gate)
	g.UntilSeen(1, kit.Logged, kit.By("a"), kit.Saying("did not return"))
	wantStrays(g, a, 0)

	// The partition comes back while the stray run is alive.
	b.Stop()
	g.Until("nothing starts where a stray runs", func() bool { return blocked(a, moved) })
	g.WantAtMost(each, kit.Started, kit.By("a"), kit.OnPartition(moved))
	own.end(moved)
	g.UntilSeen(2*each, kit.Started, kit.By("a"), kit.OnPartition(moved))
	wantStrays(g, a, int64(each))
	wantUnmoved(g, moved)

	// The partition is somebody else's when the stray run succeeds.
	b, moved = joinBeside(g, "b2", gate)
	own.end(moved)
	g.Until("the end of the stray is counted", func() bool { return a.Status().Strays == int64(2*each) })
	wantUnmoved(g, moved)

	own.endAll()
	g.Until("no stray is left", func() bool { return a.Status().Stray == 0 })
	gate.Open()
	g.UntilAllHandled()
	b.Stop()
	a.Stop()
	wantNeverExpelled(g)
	g.WantSound(nil)
	if st := a.Status(); st.Running != 0 {
		g.Errorf("%d tasks of a still run", st.Running)
	}
}

// joinBeside starts a member and waits for the rebalance to end, which takes at most R. It returns the partition that it took.
func joinBeside(g *kit.Group, name string, gate *kit.Gate) (b *kit.Member, moved int32) {
	begin := time.Now()
	b = g.Start(name, gate.Hold)
	g.Until(name+" works on one", func() bool { return len(b.Owns()) == 1 && b.Status().Running == g.AtOnce(2) })
	g.WantWithin("the rebalance", begin, time.Now(), g.Plan().RebalanceTimeout)
	return b, b.Owns()[0]
}

// wantStrays wants runs to have been abandoned, and that many of all to have ended.
func wantStrays(g *kit.Group, m *kit.Member, ended int64) {
	if st := m.Status(); st.Abandoned == 0 || st.Strays != ended {
		g.Errorf("%d runs abandoned, %d ended since: want at least 1 and %d", st.Abandoned, st.Strays, ended)
	}
}

func blocked(m *kit.Member, partition int32) bool {
	return slices.ContainsFunc(m.Status().Claims, func(c consumer.ClaimStatus) bool { return c.Partition == partition && c.Blocked })
}

// wantUnmoved wants no message of the partition to count as done.
func wantUnmoved(g *kit.Group, partition int32) {
	if o := g.Committed(partition); o > 0 {
		g.Errorf("partition %d is committed at %d, want 0", partition, o)
	}
}
