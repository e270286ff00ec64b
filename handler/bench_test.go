package handler_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// perRound is how many messages one round of a benchmark moves, over all partitions.
const perRound = 1 << 18

// BenchmarkNoop moves messages through a claim in memory: once as sarama's example does it, once through the engine. Compare the
// ns/msg and allocs/msg of the two; an operation is a round of many messages.
func BenchmarkNoop(b *testing.B) {
	for _, partitions := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("partitions=%d/raw", partitions), func(b *testing.B) { benchRounds(b, partitions, rawConsumer{}) })
		b.Run(fmt.Sprintf("partitions=%d/engine", partitions), func(b *testing.B) {
			benchRounds(b, partitions, newEngine(b, perRound/partitions))
		})
	}
}

// consumer is one of the two ways: it returns once it has handled all messages of the claim and closed it.
type consumer interface {
	consume(s *session, c *claim, last int64)
}

func benchRounds(b *testing.B, partitions int, way consumer) {
	topics := benchMessages(partitions, perRound/partitions)
	b.ReportAllocs()
	for b.Loop() {
		benchRound(topics, way)
	}
	messages := float64(b.N) * perRound
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/messages, "ns/msg")
}

// benchRound feeds each partition as sarama does, over a channel of 256.
func benchRound(topics [][]*sarama.ConsumerMessage, way consumer) {
	s := newSession()
	var wg sync.WaitGroup
	for p, messages := range topics {
		c := &claim{partition: int32(p), messages: make(chan *sarama.ConsumerMessage, 256)}
		wg.Go(func() {
			for _, m := range messages {
				c.messages <- m
			}
		})
		wg.Go(func() { way.consume(s, c, int64(len(messages)-1)) })
	}
	wg.Wait()
}

func benchMessages(partitions, n int) [][]*sarama.ConsumerMessage {
	topics := make([][]*sarama.ConsumerMessage, partitions)
	value := make([]byte, 100)
	for p := range topics {
		topics[p] = make([]*sarama.ConsumerMessage, n)
		for o := range topics[p] {
			topics[p][o] = &sarama.ConsumerMessage{Topic: topic, Partition: int32(p), Offset: int64(o), Value: value}
		}
	}
	return topics
}

// rawConsumer is the loop of sarama's example.
type rawConsumer struct{}

func (rawConsumer) consume(s *session, c *claim, last int64) {
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
	done []chan struct{}
}

func newEngine(b *testing.B, perPartition int) *engine {
	e := &engine{done: make([]chan struct{}, 64)}
	for p := range e.done {
		e.done[p] = make(chan struct{}, 1)
	}
	last := int64(perPartition - 1)
	g, err := handler.New(handler.Func(func(_ context.Context, t *handler.Task) error {
		if t.Offset == last {
			e.done[t.Partition] <- struct{}{}
		}
		return nil
	}), short(b))
	if err != nil {
		b.Fatal(err)
	}
	e.g = g
	return e
}

func (e *engine) consume(s *session, c *claim, _ int64) {
	go func() {
		<-e.done[c.partition]
		close(c.messages)
	}()
	_ = e.g.ConsumeClaim(s, c)
}
