package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

const (
	trickleEvery = 10 * time.Millisecond
	trickleTask  = 20 * time.Millisecond
	trickleSlots = 4
	trickleFor   = 10 * time.Second
	busyClaims   = 9
	// rotation is how long all claims but the trickling one take to have one turn each.
	rotation = busyClaims * trickleTask / trickleSlots
)

func trickle(l *lab) (list []figure, err error) {
	f, err := l.filled(fill{partitions: busyClaims + 1, empty: 1, messages: 90_000, bytes: 16})
	if err != nil {
		return nil, err
	}
	idle, err := l.filled(fill{partitions: 1, empty: 0, messages: 1, bytes: 16})
	if err != nil {
		return nil, err
	}
	floor, err := l.trickleOn(idle, 0, handler.None)
	if err != nil {
		return nil, err
	}
	for _, o := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		late, err := l.trickleOn(f, busyClaims, o)
		if err != nil {
			return list, err
		}
		list = append(list,
			figure{name: fmt.Sprintf("trickle_%v", o), value: inMillis(late.at(0.99)), unit: "ms", baseline: "two_rotations", baselineValue: inMillis(2 * rotation)},
			figure{name: fmt.Sprintf("trickle_%v_p50", o), value: inMillis(late.at(0.5)), unit: "ms", baseline: "one_rotation", baselineValue: inMillis(rotation)},
			figure{name: fmt.Sprintf("trickle_%v_over_idle", o), value: inMillis(late.at(0.99)), unit: "ms", baseline: "p99_alone", baselineValue: inMillis(floor.at(0.99))},
		)
	}
	return list, nil
}

// latencies are in no order.
type latencies []time.Duration

// at is a quantile of a list that is not empty.
func (l latencies) at(q float64) time.Duration {
	return slices.Sorted(slices.Values(l))[int(q*float64(len(l)-1))]
}

// dripper is a partition with a message every moment, and how long each took to start.
type dripper struct {
	partition int32
	run       uint64 // tells its messages from those of runs before it
	base      time.Time
	started   chan struct{} // closed with the first one
	once      sync.Once

	mu   sync.Mutex
	late latencies
}

// handle returns at once for the trickling messages: at 20 ms each they were twice of what a partition can do by itself.
func (d *dripper) handle(_ context.Context, t *handler.Task) error {
	if t.Partition != d.partition {
		time.Sleep(trickleTask)
		return nil
	}
	run, sent := binary.BigEndian.Uint64(t.Value), time.Duration(binary.BigEndian.Uint64(t.Value[8:]))
	if run != d.run {
		return nil
	}
	d.once.Do(func() { close(d.started) })
	if sent > 0 {
		d.mu.Lock()
		d.late = append(d.late, time.Since(d.base)-sent)
		d.mu.Unlock()
	}
	return nil
}

// drip sends messages with the time in them. The first ones have none: the fetches have to begin.
func (d *dripper) drip(ctx context.Context, client *kgo.Client) {
	tick := time.NewTicker(trickleEvery)
	defer tick.Stop()
	var begin time.Duration
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Since(d.base)
		var sent time.Duration
		select {
		case <-d.started:
			if begin == 0 {
				begin = now
			}
			if now-begin > time.Second {
				sent = now
			}
		default:
		}
		value := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, d.run), uint64(sent))
		client.Produce(ctx, &kgo.Record{Partition: d.partition, Key: fmt.Append(nil, i%100), Value: value}, nil)
	}
}

// trickleOn measures from just before a message is sent to the start of its task.
func (l *lab) trickleOn(f *filled, partition int32, o handler.Order) (latencies, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(f.broker.Addrs()...), kgo.DefaultProduceTopic(f.name), kgo.ProducerLinger(0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	d := &dripper{partition: partition, run: rand.Uint64(), base: time.Now(), started: make(chan struct{})}
	m, err := l.ordered(f, consumer.Config{Order: o, Slots: trickleSlots}, trickleTask, d.handle)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(l.ctx)
	var wg sync.WaitGroup
	wg.Go(func() { d.drip(ctx, client) }) // ends with ctx
	_, err = receive(l, d.started)
	if err == nil {
		err = l.sleep(trickleFor)
	}
	cancel()
	wg.Wait()
	m.stop()
	if err == nil && len(d.late) == 0 {
		err = errLate
	}
	return d.late, err
}
