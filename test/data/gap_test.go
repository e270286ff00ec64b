package data_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// gaps hears of messages that were gone before they were read.
type gaps struct {
	mu   sync.Mutex
	told []handler.Gap
}

func (g *gaps) OnGap(gap handler.Gap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = append(g.told, gap)
}

func (g *gaps) hear(c *consumer.Config) { c.Hooks = append(c.Hooks, g) }

// wantOne wants one gap to have been told, to the hook and in the log.
func (g *gaps) wantOne(group *kit.Group, committed, first int64, missed string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.told) != 1 || g.told[0].Committed != committed || g.told[0].First != first {
		group.Errorf("gaps %+v, want one from %d to %d", g.told, committed, first)
	}
	if n := group.Count(kit.Logged, kit.Saying("missed="+missed)); n != 1 {
		group.Errorf("%d entries say that %s were missed, want 1", n, missed)
	}
}

// B44.
func TestB44AGapBeforeTheStartIsToldOnce(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, told := s.Group(t, 1), &gaps{}
		g.ProduceTo(0, 700)
		trim(t, g, 500)
		if err := g.Broker.Commit(g.Name, g.Topic, 0, 100, ""); err != nil {
			t.Fatal(err)
		}
		m := g.Start("a", instant, told.hear)
		g.Until("all is committed", func() bool { return g.Committed(0) == 700 })
		m.Stop()
		wantStarts(g, 500, 700)
		again := g.Start("b", instant, told.hear) // and not again after a restart
		g.Until("b is at work", func() bool { return len(again.Owns()) == 1 })
		g.ProduceTo(0, 1)
		g.UntilSeen(1, kit.Committed, kit.AtOffset(701))
		told.wantOne(g, 100, 500, "400")
	}, everywhere()...)
}

// wantStarts wants one start of each message from first to the one before end, and no other.
func wantStarts(g *kit.Group, first, end int64) {
	starts := g.Find(kit.Started)
	for i, e := range starts {
		if e.Offset != first+int64(i) {
			g.Fatalf("start %d is that of message %d, want %d", i, e.Offset, first+int64(i))
		}
	}
	if n := int64(len(starts)); n != end-first {
		g.Errorf("%d starts, want %d", n, end-first)
	}
}

func trim(t *testing.T, g *kit.Group, to int64) {
	t.Helper()
	g.Note("records before %d are deleted", to)
	if err := g.Broker.DeleteRecords(g.Topic, 0, to); err != nil {
		t.Fatal(err)
	}
}

// B44. The tasks that run or are ready when their successors are trimmed end well; the partition then goes on at what is left. The
// neighbour, whose session sarama ends with it, goes on with its task (G4). B11: the claim ends at once when its stream is closed.
func TestB44RecordsAreTrimmedInMidTask(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g, told := s.Group(t, 2), &gaps{}
		g.Produce(10)
		gate, other := kit.NewGate(), kit.NewGate()
		running := min(g.AtOnce(10), atATime)
		m := g.Start("a", func(ctx context.Context, t *handler.Task) error {
			if t.Partition == 1 {
				return other.Hold(ctx, t)
			}
			return gate.Hold(ctx, t)
		}, told.hear, takesFew(s))
		g.UntilSeen(2*running, kit.Started)
		g.Until("a takes no more of it", func() bool { return m.Status().Claims[0].Paused })
		g.ProduceTo(0, 10)
		trim(t, g, 15)
		gate.Open()
		g.UntilSeen(1, kit.Committed, kit.OnPartition(0), kit.AtOffset(20))
		g.WantAtMost(0, kit.Cancelled, kit.OnPartition(0))
		wantRuns(g, 0, 0, 10)
		wantRuns(g, 0, 15, 20)
		g.WantAtMost(15, kit.Started, kit.OnPartition(0))
		told.wantOne(g, 10, 15, "5")
		closed := g.UntilSeen(1, kit.Troubled, kit.Is(sarama.ErrOffsetOutOfRange))[0]
		ended := g.UntilSeen(1, kit.Released, kit.OnPartition(0), kit.Saying("stream ended"))[0]
		g.WantWithin("the claim whose stream was closed ends", closed.At, ended.At, 100*time.Millisecond) // B11

		other.Open()
		g.UntilSeen(1, kit.Committed, kit.OnPartition(1), kit.AtOffset(10))
		g.WantAtMost(10, kit.Started, kit.OnPartition(1))
		g.WantAtMost(1, kit.Ended)
		m.Stop()
		g.WantSound(func(p int32, o int64) bool { return p == 0 && o >= 10 && o < 15 })
	}, everywhere()...)
}

// atATime is how many tasks of a partition [takesFew] lets run, in any order.
const atATime = 3

// takesFew makes a member fetch nothing behind a few messages that wait, in any order.
func takesFew(s kit.Setting) func(*consumer.Config) {
	return func(c *consumer.Config) {
		if s.Order != handler.ByPartition {
			c.PartitionSlots, c.BacklogBytes = atATime, 1
		}
	}
}

// wantRuns wants one run, and a good one, of each message from first to the one before end.
func wantRuns(g *kit.Group, partition int32, first, end int64) {
	for o := first; o < end; o++ {
		if n := g.Count(kit.Returned, kit.OnPartition(partition), kit.AtOffset(o), kit.Well()); n != 1 {
			g.Errorf("message %d@%d has %d good runs, want 1", partition, o, n)
		}
	}
}
