package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"
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
	f, err := l.filled(fill{partitions: busyClaims + 1, empty: 1, messages: 90_000, keys: 100, turns: true, bytes: 16})
	if err != nil {
		return nil, err
	}
	idle, err := l.filled(fill{partitions: 1, messages: 1, keys: 1, turns: true, bytes: 16})
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
		name := fmt.Sprintf("trickle_%v", o)
		list = append(list,
			figure{name: name, value: inMillis(late.received.at(0.99)), unit: "ms", baseline: "two_rotations", baselineValue: inMillis(2 * rotation)},
			figure{name: name + "_p50", value: inMillis(late.received.at(0.5)), unit: "ms", baseline: "one_rotation", baselineValue: inMillis(rotation)},
			figure{name: name + "_sent", value: inMillis(late.sent.at(0.99)), unit: "ms", baseline: "partition_alone", baselineValue: inMillis(floor.sent.at(0.99))},
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

// lateness is how long the tasks of the trickling partition took to start, since sarama handed the message over, and since it was sent.
type lateness struct{ received, sent latencies }

// dripper is a partition with a message every moment.
type dripper struct {
	partition int32
	run       uint64 // tells its messages from those of runs before it
	base      time.Time
	started   chan struct{} // closed with the first one
	once      sync.Once

	mu   sync.Mutex
	late lateness
}

func (d *dripper) now() time.Duration { return time.Since(d.base) }

// stamp is a time in a message.
func stamp(t time.Duration) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t)) }

func stamped(b []byte) time.Duration { return time.Duration(binary.BigEndian.Uint64(b)) }

// OnConsume implements sarama.ConsumerInterceptor: it is called just before a message is handed over.
func (d *dripper) OnConsume(m *sarama.ConsumerMessage) {
	if m.Partition == d.partition {
		m.Headers = append(m.Headers, &sarama.RecordHeader{Value: stamp(d.now())})
	}
}

// handle returns at once for the trickling messages: at 20 ms each they were twice of what a partition can do by itself.
func (d *dripper) handle(_ context.Context, t *handler.Task) error {
	if t.Partition != d.partition {
		time.Sleep(trickleTask)
		return nil
	}
	if binary.BigEndian.Uint64(t.Value) != d.run {
		return nil
	}
	d.once.Do(func() { close(d.started) })
	if sent := stamped(t.Value[8:]); sent > 0 {
		d.add(stamped(t.Headers[len(t.Headers)-1].Value), sent)
	}
	return nil
}

func (d *dripper) add(received, sent time.Duration) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late.received, d.late.sent = append(d.late.received, now-received), append(d.late.sent, now-sent)
}

// drip sends messages with the time in them. Those of the first second have none: the fetches have to begin.
func (d *dripper) drip(ctx context.Context, client *kgo.Client) {
	tick := time.NewTicker(trickleEvery)
	defer tick.Stop()
	var from <-chan time.Time
	started, measured := d.started, false
	for i := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-started:
			started, from = nil, time.After(time.Second)
		case <-from:
			measured = true
		case <-tick.C:
			d.send(ctx, client, i, measured)
			i++
		}
	}
}

func (d *dripper) send(ctx context.Context, client *kgo.Client, i int, measured bool) {
	var sent time.Duration
	if measured {
		sent = d.now()
	}
	value := append(binary.BigEndian.AppendUint64(nil, d.run), stamp(sent)...)
	client.Produce(ctx, &kgo.Record{Partition: d.partition, Key: fmt.Append(nil, i%100), Value: value}, nil)
}

// trickleOn runs a member on a topic of which one partition trickles.
func (l *lab) trickleOn(f *filled, partition int32, o handler.Order) (late lateness, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(f.broker.Addrs()...), kgo.DefaultProduceTopic(f.name), kgo.ProducerLinger(0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return late, err
	}
	defer client.Close()
	d := &dripper{partition: partition, run: rand.Uint64(), base: time.Now(), started: make(chan struct{})}
	m, err := l.ordered(f, consumer.Config{Order: o, Slots: trickleSlots, Sarama: d.config(f)}, trickleTask, d.handle)
	if err != nil {
		return late, err
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
	if err == nil && len(d.late.sent) == 0 {
		err = errLate
	}
	return d.late, err
}

func (d *dripper) config(f *filled) *sarama.Config {
	conf := f.broker.Config()
	conf.Consumer.Interceptors = []sarama.ConsumerInterceptor{d}
	return conf
}
