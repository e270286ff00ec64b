package main

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

const (
	large      = 1_000_000
	heapTask   = 30 * time.Second
	heapEvery  = 3 * time.Second
	heapFirst  = 3 * time.Second // until the backlogs are full
	lookAhead  = 10_000          // what a claim may hold at least by key and without order
	perMessage = 256             // what is held of a message beside key and value, about: see handler.Options.BacklogBytes
)

// hoard is what one side of a heap row holds: live heap after garbage collection, less what was there before.
type hoard struct{ samples []float64 }

func (h hoard) most() float64 { return slices.Max(h.samples) }

// growth compares the last third of the time with the second: in the first one there is a task of each partition and nothing before it.
func (h hoard) growth() float64 {
	third := max(1, len(h.samples)/3)
	last := len(h.samples) - third
	return median(h.samples[last:]) / median(h.samples[max(0, last-third):max(1, last)])
}

const megabyte = 1e6

// liveHeap is in megabytes.
func liveHeap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / megabyte
}

func heap1mb(l *lab) (list []figure, err error) {
	big, err := l.filled(fill{partitions: 12, messages: 12 * 200, turns: true, bytes: large})
	if err != nil {
		return nil, err
	}
	defer l.drop(big)
	list, err = heapLong(l, big)
	if err != nil {
		return list, err
	}
	mixed, err := heapMixed(l, big)
	return append(list, mixed...), err
}

// heapLong has tasks of 30 s by partition, two of each partition to their ends, and sarama's blocking loop as its baseline.
func heapLong(l *lab, big *filled) ([]figure, error) {
	own, err := l.hold(big, consumer.Config{}, func() time.Duration { return heapTask }, 2*heapTask+heapEvery)
	if err != nil {
		return nil, err
	}
	base, err := l.holdBlocking(big)
	if err != nil {
		return nil, err
	}
	bound := boundOf(big, 0, 0)
	return []figure{
		{name: "heap_1mb", value: median(own.samples), own: own.samples, unit: "MB", baseline: "sarama_blocking_loop", baselineValue: base.most()},
		{name: "heap_1mb_max", value: own.most(), unit: "MB", baseline: "documented_bound", baselineValue: bound},
		{name: "heap_1mb_growth", value: own.growth(), unit: "last_over_second", baseline: "flat", baselineValue: 1},
	}, nil
}

// heapMixed has tasks of 1 to 9 s without order, two a partition.
func heapMixed(l *lab, big *filled) ([]figure, error) {
	const slots, longest = 24, 9 * time.Second
	own, err := l.hold(big, consumer.Config{Order: handler.None, Slots: slots}, func() time.Duration {
		return time.Second + rand.N(longest-time.Second)
	}, 12*time.Second)
	if err != nil {
		return nil, err
	}
	bound := boundOf(big, slots, lookAhead) // the member's plan, whatever the tasks take
	return []figure{
		{name: "heap_1mb_mixed_max", value: own.most(), unit: "MB", baseline: "documented_bound", baselineValue: bound},
		{name: "heap_1mb_mixed_growth", value: own.growth(), unit: "last_over_second", baseline: "flat", baselineValue: 1},
	}, nil
}

// heapSmall has a million short messages waiting by key behind tasks of 30 s.
func heapSmall(l *lab) ([]figure, error) {
	const slots = 100
	f, err := l.filled(manyKeys(1_000_000))
	if err != nil {
		return nil, err
	}
	own, err := l.hold(f, consumer.Config{Order: handler.ByKey, Slots: slots}, func() time.Duration { return heapTask }, 2*heapTask+heapEvery)
	if err != nil {
		return nil, err
	}
	base, err := l.holdBlocking(f)
	if err != nil {
		return nil, err
	}
	bound := boundOf(f, slots, lookAhead)
	return []figure{
		{name: "heap_small", value: median(own.samples), own: own.samples, unit: "MB", baseline: "sarama_blocking_loop", baselineValue: base.most()},
		{name: "heap_small_max", value: own.most(), unit: "MB", baseline: "documented_bound", baselineValue: bound},
		{name: "heap_small_growth", value: own.growth(), unit: "last_over_second", baseline: "flat", baselineValue: 1},
	}, nil
}

// boundOf is the documented bound in megabytes: what runs beside the backlogs, and for each claim its backlog, full in messages or in
// bytes, the message that goes beyond it, and a fetch that was under way, which brings one message at least.
func boundOf(f *filled, running, messages int) float64 {
	plan, err := config.For(heapTask)
	if err != nil {
		return math.NaN()
	}
	each := float64(f.bytes + keyBytes + perMessage)
	inBytes := float64(plan.BacklogBytes)/float64(f.bytes+keyBytes) + 1 // that bound is one of keys and values alone
	backlog := min(float64(max(messages, plan.BacklogMessages)), inBytes) * each
	fetched := max(each, float64(plan.FetchDefault)/float64(f.bytes+keyBytes)*each)
	return (float64(running)*each + float64(f.partitions)*(backlog+fetched)) / megabyte
}

// keyBytes is the length of a key, about.
const keyBytes = 10

// hold measures a member of this library whose tasks obey their context.
func (l *lab) hold(f *filled, c consumer.Config, length func() time.Duration, d time.Duration) (hoard, error) {
	before := settledHeap()
	started := times()
	m, err := l.ordered(f, c, heapTask, func(ctx context.Context, _ *handler.Task) error {
		started <- time.Now()
		select {
		case <-time.After(length()):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err != nil {
		return hoard{}, err
	}
	_, err = receive(l, started)
	var h hoard
	if err == nil {
		h, err = l.sample(before, d)
	}
	m.stop()
	return h, err
}

// holdBlocking measures the loop that sarama's documentation shows, with sarama's defaults, whose tasks take longer than the row.
func (l *lab) holdBlocking(f *filled) (hoard, error) {
	before := settledHeap()
	end := make(chan struct{})
	conf := f.broker.Config()
	conf.Consumer.Offsets.Initial = sarama.OffsetOldest
	p, err := l.plainIn(f.broker, l.name("blocking"), f.name, conf, &blocking{handle: func(*sarama.ConsumerMessage) { <-end }})
	if err != nil {
		return hoard{}, err
	}
	h, err := l.sample(before, 3*heapEvery)
	close(end)
	p.stop()
	return h, err
}

func settledHeap() float64 {
	debug.FreeOSMemory()
	return liveHeap()
}

func (l *lab) sample(before float64, d time.Duration) (h hoard, err error) {
	if err := l.sleep(heapFirst); err != nil {
		return h, err
	}
	for end := time.Now().Add(d); len(h.samples) == 0 || time.Now().Before(end); {
		h.samples = append(h.samples, liveHeap()-before)
		if err := l.sleep(heapEvery); err != nil {
			return h, err
		}
	}
	return h, nil
}
