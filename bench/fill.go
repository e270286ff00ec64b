package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// fill is what lies on a topic before a measurement begins. Rows that name the same one share the topic, each with groups of its own.
type fill struct {
	partitions int32
	empty      int32 // of them, the last ones that nothing lies on
	messages   int
	keys       int  // 0: no keys
	turns      bool // the partitions in turn, each with all keys; else murmur2 of the key picks one, as Java's producers do it
	bytes      int  // of a value
}

// filled is a topic with its messages on it.
type filled struct {
	fill
	name   string
	broker kafkatest.Broker
	ends   []int64 // how many messages each partition has
}

// largest is how many messages the fullest partition has.
func (f *filled) largest() (n int64) {
	for _, end := range f.ends {
		n = max(n, end)
	}
	return n
}

func (l *lab) filled(f fill) (*filled, error) {
	if have := l.fills[f]; have != nil {
		return have, nil
	}
	b, err := l.broker()
	if err != nil {
		return nil, err
	}
	made := &filled{fill: f, name: l.name("filled"), broker: b, ends: make([]int64, f.partitions)}
	if err := errors.Join(b.CreateTopic(made.name, f.partitions), made.produce(l.ctx)); err != nil {
		return nil, err
	}
	for p := range f.partitions {
		if made.ends[p], err = b.EndOffset(made.name, p); err != nil {
			return nil, err
		}
	}
	l.fills[f] = made
	return made, nil
}

// drop deletes the topic: the large ones are not kept.
func (l *lab) drop(f *filled) {
	delete(l.fills, f.fill)
	_ = f.broker.DeleteTopic(f.name)
}

// produce fills the topic in batches of 16 KB, which is the default of Java's producers, without compression.
func (f *filled) produce(ctx context.Context) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(f.broker.Addrs()...), kgo.DefaultProduceTopic(f.name), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(int32(max(16<<10, f.bytes+1<<10))), kgo.MaxBufferedBytes(64<<20), f.partitioner(),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	var failed error
	var once sync.Once
	value := make([]byte, f.bytes)
	for i := range f.messages {
		client.Produce(ctx, f.record(i, value), func(_ *kgo.Record, err error) {
			if err != nil {
				once.Do(func() { failed = err })
			}
		})
	}
	return errors.Join(client.Flush(ctx), failed)
}

func (f *filled) partitioner() kgo.Opt {
	if f.turns {
		return kgo.RecordPartitioner(kgo.ManualPartitioner())
	}
	return kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil))
}

func (f *filled) record(i int, value []byte) *kgo.Record {
	r := &kgo.Record{Value: value}
	if f.turns {
		used := int(f.partitions - f.empty)
		r.Partition, i = int32(i%used), i/used
	}
	if f.keys > 0 {
		r.Key = fmt.Appendf(nil, "key-%d", i%f.keys)
	}
	return r
}
