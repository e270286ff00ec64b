package data_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// panics are what a program does wrong.
func panics() []func() {
	var none *handler.Task
	var list []int
	return []func(){
		func() { panic("a string") },
		func() { panic(errors.New("an error")) },
		func() { _ = none.Offset },
		func() { _ = list[len(list)] },
	}
}

// B17. All four panics hit message 5 of one partition in turn, while a task of the other one runs.
func TestB17APanicDisturbsNobody(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, log := s.Group(t, 2), &transcript{}
		g.Produce(8)
		gate, turns, tried := kit.NewGate(), panics(), 0
		m := g.Start("a", func(ctx context.Context, t *handler.Task) error {
			switch {
			case t.Partition == 1:
				return gate.Hold(ctx, t)
			case t.Offset == 5 && tried < len(turns):
				if o := g.Committed(0); o > 5 {
					g.Errorf("committed at %d while message 5 fails", o)
				}
				tried++ // there is one call at a time for a partition
				turns[tried-1]()
			}
			return nil
		}, log.record, func(c *consumer.Config) { c.Retry = retry.Policy{Initial: 50 * time.Millisecond} })
		g.UntilSeen(1, kit.Committed, kit.OnPartition(0), kit.AtOffset(8))
		if m.Status().Running != 1 {
			g.Errorf("the other task was disturbed: %+v", m.Status())
		}
		gate.Open()
		g.UntilAllHandled()
		if c := m.Status().Counts; c.Panicked != 4 || c.Failed != 4 {
			g.Errorf("%d panics and %d failures are counted, want 4", c.Panicked, c.Failed)
		}
		m.Stop()
		g.WantAtMost(5, kit.Started, kit.OnPartition(0), kit.AtOffset(5))
		g.WantAtMost(1, kit.Started, kit.OnPartition(1), kit.AtOffset(0))
		g.WantAtMost(0, kit.Cancelled)
		g.WantAtMost(1, kit.Assigned)
		wantStacks(t, log)
	}, everywhere()...)
}

// wantStacks wants one entry for each panic, with what it was and where.
func wantStacks(t *testing.T, log *transcript) {
	t.Helper()
	entries := log.lines("level=ERROR")
	if len(entries) != 4 {
		t.Fatalf("%d entries at error level, want 4:\n%s", len(entries), log)
	}
	for i, part := range []string{"a string", "an error", "nil pointer", "index out of range"} {
		said, stack, _ := strings.Cut(entries[i], " stack=")
		if strings.Contains(said, "panic_test.go") {
			t.Errorf("entry %d has the stack twice: %s", i, entries[i])
		}
		if !strings.Contains(said, part) || !strings.Contains(said, "offset=5") || !strings.Contains(stack, "panic_test.go") {
			t.Errorf("entry %d lacks %q, the offset or the stack: %s", i, part, entries[i])
		}
	}
}
