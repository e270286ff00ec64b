package assign_test

import (
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// The scenarios of a planned rebalance, under both protocols.

func both(t *testing.T, test func(t *testing.T, g *group, join func(topics ...string) *peer)) {
	t.Helper()
	for name, eager := range map[string]bool{"eager": true, "cooperative": false} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, assign.Partitions{})
			test(t, g, func(topics ...string) *peer {
				p := g.join(topics...)
				p.eager = eager
				return p
			})
		})
	}
}

// 12 busy partitions, 1 to 3 to 5 to 2 members: nothing is interrupted (the group sees to that), and the balance is there when the tasks
// that ran have ended.
func TestScaleUpAndDownWhileAllIsBusy(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics["a"] = numbers(12)
		join("a")
		for _, size := range []int{3, 5} {
			g.calm()
			g.work()
			for len(g.peers) < size {
				join("a")
				g.calm()
			}
			g.finish()
			g.calm()
			if n := g.counts(); slices.Max(n)-slices.Min(n) > 1 {
				t.Fatalf("%d members: %v", size, n)
			}
		}
		g.work()
		for _, p := range slices.Clone(g.peers[:3]) {
			p.draining = true
			g.calm()
		}
		g.finish()
		g.calm()
		if n := g.counts(); !slices.Equal(n, []int{0, 0, 0, 6, 6}) {
			t.Fatalf("three drain: %v", n)
		}
	})
}

// A backlog without end: a task ends and the next one starts at once, except on what is marked.
func TestANewcomerGetsItsShareFromOneThatIsAlwaysBusy(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics["a"] = numbers(6)
		join("a")
		g.calm()
		g.work()
		join("a")
		g.calm()
		g.finish()
		g.work()
		g.calm()
		if n := g.counts(); !slices.Equal(n, []int{3, 3}) {
			t.Fatalf("after one task: %v", n)
		}
	})
}

// Members are replaced one by one. What a drained one had is spread, and comes back to the next one: two moves for each of its three.
func TestRollingRestartMovesLittle(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics["a"] = numbers(12)
		for range 4 {
			join("a")
		}
		g.calm()
		g.moved = 0
		for range 4 {
			g.work()
			leaver := g.peers[0]
			leaver.draining = true
			g.calm()
			g.finish()
			g.calm()
			if len(leaver.claims) > 0 {
				t.Fatalf("a drained member has %v", leaver.claims)
			}
			g.leave(leaver)
			g.calm()
			join("a")
			g.calm()
		}
		if n := g.counts(); !slices.Equal(n, []int{3, 3, 3, 3}) || g.moved != 24 {
			t.Fatalf("%v after %d moves", n, g.moved)
		}
	})
}

// Members come and go while others run long tasks: these keep what they run.
func TestChurnMovesOnlyWhatIsIdle(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics["a"] = numbers(8)
		stays := join("a")
		g.calm()
		g.work()
		for range 10 {
			p := join("a")
			g.calm()
			stays.end(key{"a", 7})
			g.calm()
			g.leave(p)
			g.calm()
		}
		if len(stays.claims) != 8 || len(stays.told.HandOver) > 0 {
			t.Errorf("%v, %+v", stays.claims, stays.told)
		}
	})
}

func TestSharesFollowTheSlots(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics["a"] = numbers(16)
		for _, slots := range []int{1, 3, 4} {
			join("a").slots = slots
			g.calm()
		}
		if n := g.counts(); !slices.Equal(n, []int{2, 6, 8}) {
			t.Errorf("%v, want 2, 6, 8", n)
		}
		join("a") // does not tell: as the smallest one
		g.calm()
		if n := g.counts(); n[3] != 2 {
			t.Errorf("%v, want 2 for the last one", n)
		}
	})
}

// The one that has too much and the one that has too little have no topic in common.
func TestPartitionsMoveInAChain(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics = assign.Partitions{"a": numbers(4), "b": numbers(3)}
		join("a")
		join("a", "b")
		g.calm()
		join("b")
		g.calm()
		if n := g.counts(); !slices.Equal(n, []int{3, 2, 2}) {
			t.Errorf("%v, want 3, 2, 2", n)
		}
		g.topics["c"] = numbers(2)
		join("b", "c")
		g.calm()
		if n := g.counts(); slices.Max(n) > 3 || slices.Min(n) < 2 {
			t.Errorf("%v, want 9 in shares of 2 and 3", n)
		}
	})
}

// The partitions of a topic are spread over the members, in a new group and when some move.
func TestTopicsAreSpread(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics = assign.Partitions{"a": numbers(8), "b": numbers(8)}
		for range 2 {
			join("a", "b")
			g.calm()
			for _, p := range g.peers {
				if s := setOf(p.claims); len(s["a"]) != len(s["b"]) {
					t.Errorf("%s has %v", p.id, s)
				}
			}
		}
	})
}

func TestTopicsAreSpreadOverSeveralNewcomers(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics = assign.Partitions{"a": numbers(9), "b": numbers(9)}
		join("a", "b")
		g.calm()
		join("a", "b")
		join("a", "b")
		g.calm()
		for _, p := range g.peers {
			if s := setOf(p.claims); len(s["a"]) != 3 || len(s["b"]) != 3 {
				t.Errorf("%s has %v", p.id, s)
			}
		}
	})
}

// Many partitions to hand over need few rounds: each takes along all that has become idle.
func TestE14HandOversShareRounds(t *testing.T) {
	both(t, func(t *testing.T, g *group, join func(...string) *peer) {
		g.topics["a"] = numbers(80)
		for range 10 {
			join("a")
		}
		g.calm()
		g.work()
		for range 6 {
			join("a")
		}
		g.calm()
		g.rounds = 0
		g.finish()
		g.calm()
		if n := g.counts(); slices.Max(n) != 5 || slices.Min(n) != 5 || g.rounds > 2 {
			t.Errorf("%v after %d rounds", n, g.rounds)
		}
	})
}
