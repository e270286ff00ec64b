package handler_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// perRound is how many messages one round moves, over all partitions.
const perRound = 1 << 18

// BenchmarkNoop compares the engine with the loop of sarama's example, `for m := range Messages() { MarkMessage }`, for a handler that
// does nothing. An operation is one round of each, so that both meet the same machine; ratio is the median of the rounds' throughput
// against that loop's, allocs+/msg what the engine allocates more for a message.
//
// The messages come from memory, which is a harder test than a broker: there is no decoding that would cost both the same.
func BenchmarkNoop(b *testing.B) {
	for _, partitions := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("partitions=%d", partitions), func(b *testing.B) { compare(b, partitions, short(b)) })
	}
	for _, order := range []handler.Order{handler.ByKey, handler.None} {
		b.Run("order="+order.String(), func(b *testing.B) {
			o := short(b)
			o.Order, o.Slots = order, 100
			compare(b, 10, o)
		})
	}
}

func compare(b *testing.B, partitions int, o handler.Options) {
	ours := newEngine(b, perRound/partitions, o)
	var raw, engine rounds
	for b.Loop() {
		raw.add(func() { benchRound(partitions, rawConsumer{}) })
		engine.add(func() { benchRound(partitions, ours) })
	}
	b.ReportMetric(median(raw.times), "raw-ns/msg")
	b.ReportMetric(median(engine.times), "engine-ns/msg")
	b.ReportMetric(median(raw.times)/median(engine.times), "ratio")
	b.ReportMetric(median(raw.cpu), "raw-cpu-ns/msg")
	b.ReportMetric(median(engine.cpu), "engine-cpu-ns/msg")
	b.ReportMetric(engine.allocs()-raw.allocs(), "allocs+/msg")
	b.ReportMetric(0, "ns/op") // of both together: says nothing
}

// rounds collects what one way costs.
type rounds struct {
	times   []time.Duration
	cpu     []time.Duration
	mallocs uint64
}

func (r *rounds) add(round func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	r.times = append(r.times, elapsed(round))
	r.cpu = append(r.cpu, cpuTime()-cpu)
	runtime.ReadMemStats(&after)
	r.mallocs += after.Mallocs - before.Mallocs
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2]) / perRound
}

func (r *rounds) allocs() float64 { return float64(r.mallocs) / float64(len(r.times)) / perRound }

// consumer is one of the two ways: it returns once it has handled all messages of the claim.
type consumer interface {
	consume(s *marker, c *claim, last int64)
}

// marker is a session that marks as sarama's does: a look-up under a read lock, then the partition's own lock.
type marker struct {
	*session
	mu    sync.RWMutex
	marks map[int32]*mark
}

type mark struct {
	mu     sync.Mutex
	offset int64
}

func newMarker(partitions int) *marker {
	m := &marker{session: newSession(), marks: map[int32]*mark{}}
	for p := range int32(partitions) {
		m.marks[p] = &mark{}
	}
	return m
}

func (m *marker) MarkOffset(_ string, partition int32, offset int64, _ string) {
	m.mu.RLock()
	k := m.marks[partition]
	m.mu.RUnlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.offset = max(k.offset, offset)
}

func (m *marker) MarkMessage(msg *sarama.ConsumerMessage, meta string) {
	m.MarkOffset(msg.Topic, msg.Partition, msg.Offset+1, meta)
}

// benchRound feeds each partition as sarama does: a batch of messages at a time, each on its own, over a channel of 256.
func benchRound(partitions int, way consumer) {
	s := newMarker(partitions)
	var wg sync.WaitGroup
	for p := range int32(partitions) {
		c := &claim{partition: p, messages: make(chan *sarama.ConsumerMessage, 256)}
		wg.Go(func() { c.feed(perRound / partitions) })
		wg.Go(func() { way.consume(s, c, int64(perRound/partitions-1)) })
	}
	wg.Wait()
}

func (c *claim) feed(n int) {
	value := make([]byte, 100)
	keys := make([][]byte, 1000)
	for i := range keys {
		keys[i] = fmt.Append(nil, "key-", i)
	}
	batch := make([]*sarama.ConsumerMessage, 500)
	for o := 0; o < n; {
		k := min(len(batch), n-o)
		for i := range k {
			batch[i] = &sarama.ConsumerMessage{Topic: topic, Partition: c.partition, Offset: int64(o + i), Key: keys[(o+i)*7%len(keys)], Value: value}
		}
		for _, m := range batch[:k] {
			c.messages <- m
		}
		o += k
	}
}

// rawConsumer is the loop of sarama's example.
type rawConsumer struct{}

func (rawConsumer) consume(s *marker, c *claim, last int64) {
	for m := range c.Messages() {
		s.MarkMessage(m, "")
		if m.Offset == last {
			return
		}
	}
}

// engine is a GroupHandler with a handler that does nothing.
type engine struct {
	g    *handler.GroupHandler
	done map[int32]chan struct{}
}

func newEngine(b *testing.B, perPartition int, o handler.Options) *engine {
	e := &engine{done: map[int32]chan struct{}{}}
	for p := range int32(64) {
		e.done[p] = make(chan struct{}, 1)
	}
	last := int64(perPartition - 1)
	g, err := handler.New(handler.Func(func(_ context.Context, t *handler.Task) error {
		if t.Offset == last {
			e.done[t.Partition] <- struct{}{}
		}
		return nil
	}), o)
	if err != nil {
		b.Fatal(err)
	}
	e.g = g
	return e
}

func (e *engine) consume(s *marker, c *claim, _ int64) {
	var wg sync.WaitGroup
	wg.Go(func() { _ = e.g.ConsumeClaim(s, c) })
	<-e.done[c.partition]
	close(c.messages)
	wg.Wait()
}
