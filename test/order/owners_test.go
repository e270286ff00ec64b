package order_test

import (
	"context"
	"slices"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// A member of another library replays from the commit, and leaves none of our text: the next member of ours begins where it stopped.
func TestAPlainConsumerReplaysAndTheMapIsGone(t *testing.T) {
	const n, until = 30, 17
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Keys *= n
		g.ProduceTo(0, n)
		leaveHoles(t, g, n, thirds)
		plain(t, g, until)
		if state, text := g.State(0); state.Next != until+1 || text != "" {
			g.Fatalf("the plain consumer has committed %d with %q", state.Next, text)
		}
		b := g.Start("b", instant)
		g.UntilSeen(1, kit.Committed, kit.By("b"), kit.AtOffset(n))
		b.Stop()
		wantStarted(g, "plain", where(until+1, all)...)
		wantStarted(g, "b", where(n, func(o int64) bool { return o > until })...)
		g.WantSound(nil)
	}, everywhere()...)
}

// plain consumes and marks up to a message with nothing but sarama.
func plain(t *testing.T, g *kit.Group, until int64) {
	t.Helper()
	conf, err := g.Plan().Apply(g.Broker.Config())
	must(t, err)
	group, err := sarama.NewConsumerGroup(g.Broker.Addrs(), g.Name, conf)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	must(t, group.Consume(ctx, []string{g.Topic}, &marker{History: g.History, until: until, stop: stop}))
	must(t, group.Close())
}

// marker marks messages, and tells of them as if they were tasks.
type marker struct {
	*kit.History
	until int64
	stop  func()
}

func (*marker) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (*marker) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (p *marker) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for m := range c.Messages() {
		e := kit.Event{Member: "plain", Kind: kit.Started, Partition: m.Partition, Offset: m.Offset, Key: string(m.Key), Call: m.Offset}
		p.Add(e)
		e.Kind = kit.Returned
		p.Add(e)
		s.MarkMessage(m, "")
		if m.Offset == p.until {
			p.stop()
			return nil
		}
	}
	return nil
}

// Offsets that were set by hand count, whatever text stands beside them.
func TestOffsetsSetByHandMakeTheMapVoid(t *testing.T) {
	const n = 30
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Keys *= n
		g.ProduceTo(0, n)
		text := leaveHoles(t, g, n, func(o int64) bool { return o%5 == 4 })
		for name, set := range map[string]struct {
			to   int64
			text string
		}{
			"cleared": {2, ""}, "foreign": {2, "somebody else's"}, "kept": {2, text}, "kept, later": {9, text},
		} {
			must(t, g.Broker.Commit(g.Name, g.Topic, 0, set.to, set.text))
			m := g.Start(name, instant)
			g.UntilSeen(1, kit.Committed, kit.By(name), kit.AtOffset(n))
			m.Stop()
			wantStarted(g, name, where(n, func(o int64) bool { return o >= set.to })...)
		}
	}, kit.Quietly(everywhere())...)
}

// A group that goes over to order by partition runs the holes that were left, and in order.
func TestHolesAreFilledInAnotherOrder(t *testing.T) {
	const n = 30
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.ProduceTo(0, n)
		leaveHoles(t, g, n, thirds)
		g.Order, g.Slots = handler.ByPartition, 0
		b := g.Start("b", instant)
		g.UntilAllHandled()
		b.Stop()
		var got []int64
		for _, e := range g.Find(kit.Started, kit.By("b")) {
			got = append(got, e.Offset)
		}
		if !slices.Equal(got, where(n, thirds)) {
			g.Errorf("b started %v, want %v", got, where(n, thirds))
		}
		g.Order = s.Order
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}

// The marks of transactions take offsets that nobody gets to see.
func TestTheMapSpansMarksOfTransactions(t *testing.T) {
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g, held := s.Group(t, 1), func(o int64) bool { return o == 0 || o == 6 }
		g.Transact(sarama.SyncProducer.CommitTxn) // 0, 1, and a mark
		g.Transact(sarama.SyncProducer.AbortTxn)  // 3, 4, and a mark
		g.Transact(sarama.SyncProducer.CommitTxn) // 6, 7, and a mark
		g.ProduceTo(0, 1)                         // 9
		gate := kit.NewGate()
		a := g.Start("a", holding(gate, held))
		g.UntilFinished(0, 0, 1, 2, 3, 4, 5, 7, 8, 9)
		a.Stop()
		b := g.Start("b", instant)
		g.UntilSeen(1, kit.Committed, kit.AtOffset(10))
		b.Stop()
		wantStarted(g, "b", 0, 6)
		g.WantSound(func(_ int32, o int64) bool { return o%3 == 2 })
	}, kit.Quietly(everywhere())...)
}

// Some holes are no longer in the log when the next owner comes.
func TestTheMapSurvivesATrimmedLog(t *testing.T) {
	const n, first = 12, 6
	kit.EachFanned(t, func(t *testing.T, s kit.Setting) {
		g, held := s.Group(t, 1), func(o int64) bool { return o == 2 || o == 5 || o == 7 }
		g.Keys *= n
		g.ProduceTo(0, n)
		leaveHoles(t, g, n, held)
		must(t, g.Broker.DeleteRecords(g.Topic, 0, first))
		b := g.Start("b", instant)
		g.UntilSeen(1, kit.Committed, kit.AtOffset(n))
		b.Stop()
		wantStarted(g, "b", 7)
		g.WantSound(func(_ int32, o int64) bool { return o < first })
	}, kit.Quietly(everywhere())...)
}
