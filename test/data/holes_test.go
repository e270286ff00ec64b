package data_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// Offsets that a compacted topic no longer has are no gaps: nothing was lost, and the next one is committed as ever.
//
// In the in-process broker the log of a compacted topic begins at its first message, which makes a gap of the hole before it.
func TestACompactedTopicIsCommittedAcrossItsHoles(t *testing.T) {
	onKafka(t, func(t *testing.T, s kit.Setting) {
		g, told := s.Group(t, 1), &gaps{}
		left := compacted(t, g, 31)
		if err := g.Broker.Commit(g.Name, g.Topic, 0, 5, ""); err != nil {
			t.Fatal(err)
		}
		m := g.Start("a", instant, told.hear)
		g.UntilSeen(1, kit.Committed, kit.AtOffset(31))
		m.Stop()
		wantStarted(g, "a", left...)
		wantResumed(t, g, told, 31)
	})
}

// wantStarted wants a member to have started just these messages, in order.
func wantStarted(g *kit.Group, name string, offsets ...int64) {
	var got []int64
	for _, e := range g.Find(kit.Started, kit.By(name)) {
		got = append(got, e.Offset)
	}
	if !slices.Equal(got, offsets) {
		g.Errorf("%s started %v, want %v", name, got, offsets)
	}
}

// wantResumed wants a restarted member to run nothing but the next message, which gets that offset, and nobody to have heard of a gap.
func wantResumed(t *testing.T, g *kit.Group, told *gaps, next int64) {
	t.Helper()
	m := g.Start("again", instant, told.hear)
	g.Until("it is at work again", func() bool { return len(m.Owns()) == 1 })
	send(t, g, "another")
	g.UntilSeen(1, kit.Committed, kit.AtOffset(next+1))
	m.Stop()
	wantStarted(g, "again", next)
	if len(told.told) != 0 {
		g.Errorf("gaps %+v, want none", told.told)
	}
}

// compacted fills the topic with n messages of a few keys, the last one of a key of its own, and returns the offsets that are left of them.
func compacted(t *testing.T, g *kit.Group, n int) (left []int64) {
	t.Helper()
	const keys = 3
	for key, value := range map[string]string{"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0"} {
		configure(t, g, key, value)
	}
	for i := range n - 1 {
		send(t, g, strconv.Itoa(i%keys))
	}
	time.Sleep(200 * time.Millisecond) // the segment's
	send(t, g, "the next segment")
	g.Until("the topic is compacted", func() bool {
		left = offsets(t, g, int64(n))
		return len(left) == keys+1
	})
	return left
}

func send(t *testing.T, g *kit.Group, key string) {
	t.Helper()
	if err := g.Broker.Send(&sarama.ProducerMessage{Topic: g.Topic, Key: sarama.StringEncoder(key)}); err != nil {
		t.Fatal(err)
	}
}

// offsets are those of the messages that the topic has before end.
func offsets(t *testing.T, g *kit.Group, end int64) (list []int64) {
	t.Helper()
	reader, err := sarama.NewConsumer(g.Broker.Addrs(), g.Broker.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	p, err := reader.ConsumePartition(g.Topic, 0, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for m := range p.Messages() {
		list = append(list, m.Offset)
		if m.Offset == end-1 {
			break
		}
	}
	return list
}

// The marks of transactions take offsets, and what was aborted is passed over if the user reads committed messages only.
func TestTransactionsAreCommittedAcrossTheirMarks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		level sarama.IsolationLevel
		want  []int64
	}{
		"all":       {sarama.ReadUncommitted, []int64{0, 1, 3, 4, 6, 7}},
		"committed": {sarama.ReadCommitted, []int64{0, 1, 6, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			kit.Each(t, func(t *testing.T, s kit.Setting) {
				g, told := s.Group(t, 1), &gaps{}
				g.Transact(sarama.SyncProducer.CommitTxn) // 0, 1, and a mark
				g.Transact(sarama.SyncProducer.AbortTxn)  // 3, 4, and a mark
				g.Transact(sarama.SyncProducer.CommitTxn) // 6, 7, and a mark
				reads := func(c *consumer.Config) { c.Sarama.Consumer.IsolationLevel = test.level }
				m := g.Start("a", instant, told.hear, reads)
				g.UntilSeen(1, kit.Committed, kit.AtOffset(8))
				m.Stop()
				wantStarted(g, "a", test.want...)
				wantResumed(t, g, told, 9)
			}, everywhere()...)
		})
	}
}
