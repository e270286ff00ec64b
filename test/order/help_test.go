package order_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// scattered chooses 0 and, at random, as many offsets below n as make k in all.
func scattered(n, k int64) map[int64]bool {
	chosen := map[int64]bool{0: true}
	for int64(len(chosen)) < k {
		chosen[rand.Int64N(n)] = true
	}
	return chosen
}

// leaveHoles makes member a handle all of the one partition but what is to be held, and stop. It returns the text of its last commit.
func leaveHoles(t *testing.T, g *kit.Group, n int64, hold func(int64) bool, change ...func(*consumer.Config)) (text string) {
	t.Helper()
	g.Input.StopGrace = config.NoGrace
	gate := kit.NewGate()
	a := g.Start("a", holding(gate, hold), change...)
	held := where(n, hold)
	g.Until("all but the held ones are done", func() bool { return a.Status().Succeeded == n-int64(len(held)) })
	a.Stop()
	state, text := g.State(0)
	if state.Next != held[0] || len(state.Finished) == 0 {
		g.Fatalf("committed at %d with %v, want %d and a map", state.Next, state.Finished, held[0])
	}
	return text
}

// stages is a handler that, on partition 0, holds message 0 until the first gate opens and from hole on each third one until the other does.
func stages(first, rest *kit.Gate, hole int64) handler.Func {
	return func(ctx context.Context, t *handler.Task) error {
		switch {
		case t.Partition == 0 && t.Offset == 0:
			return first.Hold(ctx, t)
		case t.Partition == 0 && t.Offset >= hole && thirds(t.Offset-hole):
			return rest.Hold(ctx, t)
		default:
			return nil
		}
	}
}
