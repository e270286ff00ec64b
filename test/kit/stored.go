package kit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// Watch puts what the broker has stored for the group into the history, whenever it finds it changed, until the end of the test.
func (g *Group) Watch() {
	g.t.Helper()
	admin, err := sarama.NewClusterAdmin(g.Broker.Addrs(), g.Broker.Config())
	g.must(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // ends with stop, and the end of the test waits for it
		defer close(done)
		g.watch(ctx, admin)
	}()
	g.t.Cleanup(func() {
		stop()
		<-done
		_ = admin.Close()
	})
}

func (g *Group) watch(ctx context.Context, admin sarama.ClusterAdmin) {
	last := map[int32]Event{}
	for ctx.Err() == nil {
		g.look(admin, last)
		select {
		case <-ctx.Done():
		case <-time.After(3 * glance):
		}
	}
}

// look asks once. What fails, in a rebalance of the brokers for one, is asked again soon.
func (g *Group) look(admin sarama.ClusterAdmin, last map[int32]Event) {
	answer, err := admin.ListConsumerGroupOffsets(g.Name, nil)
	if err != nil {
		return
	}
	for p, b := range answer.Blocks[g.Topic] {
		e := Event{Member: "broker", Kind: Stored, Partition: p, Offset: b.Offset, Text: b.Metadata}
		if b.Err == sarama.ErrNoError && b.Offset >= 0 && last[p] != e {
			last[p] = e
			g.Add(e)
		}
	}
}

// State is what the broker has stored for a partition, as the next owner reads it.
func (g *Group) State(partition int32) (s offset.State, text string) {
	g.t.Helper()
	o, text, err := g.Broker.Committed(g.Name, g.Topic, partition)
	g.must(err)
	s, _ = offset.Decode(text, o) // what is not ours has no map
	return s, text
}

// UntilFinished waits until the commit of a partition has the offset next, and a map of just those offsets beyond it.
func (g *Group) UntilFinished(partition int32, next int64, beyond ...int64) {
	g.t.Helper()
	g.Until(fmt.Sprintf("partition %d is committed at %d with a map of %v", partition, next, beyond), func() bool {
		s, _ := g.State(partition)
		return s.Next == next && slices.Equal(OffsetsOf(s.Finished), beyond)
	})
}

// OffsetsOf lists what ranges have.
func OffsetsOf(r offset.Ranges) (list []int64) {
	for _, x := range r {
		for o := x.From; o < x.To; o++ {
			list = append(list, o)
		}
	}
	return list
}

// Offsets lists those of the events of a kind that match, sorted, each as often as it comes.
func (h *History) Offsets(k Kind, ms ...Match) (list []int64) {
	for _, e := range h.Find(k, ms...) {
		list = append(list, e.Offset)
	}
	slices.Sort(list)
	return list
}
