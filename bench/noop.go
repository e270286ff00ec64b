package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const (
	noopRounds   = 8
	noopMessages = 2_000_000
	noopTopic    = "noop"
)

func noopPartition(l *lab) (list []figure, err error) {
	for _, partitions := range []int32{1, 4, 16} {
		figures, err := noopOn(l, partitions)
		if err != nil {
			return list, err
		}
		list = append(list, figures...)
	}
	return list, nil
}

// speed is one round: messages a second, and allocations a message, the broker's and sarama's included.
type speed struct{ rate, allocs float64 }

func noopOn(l *lab, partitions int32) ([]figure, error) {
	var own, raw []speed
	for range noopRounds {
		r, err := noopRound(l, partitions, rawLoop)
		if err != nil {
			return nil, err
		}
		o, err := noopRound(l, partitions, engineLoop)
		if err != nil {
			return nil, err
		}
		raw, own = append(raw, r), append(own, o)
	}
	var extra, ownRates, rawRates, rawAllocs []float64
	for i := range own {
		extra = append(extra, own[i].allocs-raw[i].allocs)
		ownRates, rawRates, rawAllocs = append(ownRates, own[i].rate), append(rawRates, raw[i].rate), append(rawAllocs, raw[i].allocs)
	}
	name := fmt.Sprintf("noop_partition_%d", partitions)
	return []figure{
		versus(figure{name: name, unit: "messages/s", baseline: "marking_loop"}, ownRates, rawRates),
		{name: name + "_extra_allocs", value: median(extra), own: extra, unit: "allocs/message", baseline: "marking_loop", baselineValue: median(rawAllocs), base: rawAllocs},
	}, nil
}

// counter counts messages of all partitions, one cache line each, and tells when there are enough.
type counter struct {
	perPartition int64
	left         atomic.Int32
	done         chan time.Time
	seen         []padded
}

type padded struct {
	n int64
	_ [7]int64
}

func newCounter(partitions int32) *counter {
	c := &counter{perPartition: noopMessages / int64(partitions), done: make(chan time.Time, 1), seen: make([]padded, partitions)}
	c.left.Store(partitions)
	return c
}

// add is called for the messages of a partition one at a time, as both loops do.
func (c *counter) add(partition int32) {
	p := &c.seen[partition]
	if p.n++; p.n == c.perPartition && c.left.Add(-1) == 0 {
		c.done <- time.Now()
	}
}

// loopOf makes the handler of a round and sets the configuration for it.
type loopOf func(c *counter, conf *sarama.Config) (sarama.ConsumerGroupHandler, *sarama.Config, error)

func noopRound(l *lab, partitions int32, loop loopOf) (s speed, err error) {
	b, err := kafkatest.Synthetic{Topic: noopTopic, Partitions: partitions}.Start()
	if err != nil {
		return s, err
	}
	defer b.Close()
	count := newCounter(partitions)
	h, conf, err := loop(count, b.Config())
	if err != nil {
		return s, err
	}
	group, err := sarama.NewConsumerGroup(b.Addrs(), l.name("noop"), conf)
	if err != nil {
		return s, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	ctx, cancel := context.WithCancel(l.ctx)
	consumed := make(chan error, 1)
	go func() { consumed <- group.Consume(ctx, []string{noopTopic}, h) }() // ends with ctx
	at, err := receive(l, count.done)
	runtime.ReadMemStats(&after)
	cancel()
	err = errors.Join(err, <-consumed)
	_ = group.Close()
	return speed{rate: noopMessages / at.Sub(began).Seconds(), allocs: float64(after.Mallocs-before.Mallocs) / noopMessages}, err
}

func engineLoop(c *counter, conf *sarama.Config) (sarama.ConsumerGroupHandler, *sarama.Config, error) {
	plan, err := config.For(time.Millisecond)
	if err != nil {
		return nil, nil, err
	}
	h, err := handler.New(handler.Func(func(_ context.Context, t *handler.Task) error {
		c.add(t.Partition)
		return nil
	}), handler.Options{Plan: plan, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	conf, err = plan.Apply(conf)
	return h, conf, err
}

// rawLoop is the loop that everybody writes, under the same settings.
func rawLoop(c *counter, conf *sarama.Config) (sarama.ConsumerGroupHandler, *sarama.Config, error) {
	plan, err := config.For(time.Millisecond)
	if err != nil {
		return nil, nil, err
	}
	conf, err = plan.Apply(conf)
	return marking{c.add}, conf, err
}
