package handler

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"

	"github.com/IBM/sarama"
)

// Order is what the order of messages is kept for, and so what may run at once.
type Order int

const (
	// ByPartition runs one task of a partition at a time, in offset order. It is the default.
	ByPartition Order = iota
	// ByKey runs the tasks of a key one at a time, in offset order, and those of different keys at once. A message without a key (nil,
	// not empty) has no order to keep and waits for no other one. Keys are told apart within their partition.
	ByKey
	// None runs whatever comes, as many tasks at once as there are slots.
	None
)

// String returns the order in a word.
func (o Order) String() string {
	if o < ByPartition || o > None {
		return "unknown"
	}
	return [...]string{"partition", "key", "none"}[o]
}

// KeyFunc returns what messages are ordered by, nil for a message that has no order to keep. It is called once for each delivery of a
// message, on the goroutine that receives them, those of several partitions at once. It must not block, and has to return the same for the
// same message at all times: what is ordered by another key after a restart has no order with what was before. Messages for which it
// panics are ordered among themselves, and each panic is logged.
type KeyFunc func(m *sarama.ConsumerMessage) []byte

func messageKey(m *sarama.ConsumerMessage) []byte { return m.Key }

// keys makes lanes of keys.
type keys struct {
	order  Order
	of     KeyFunc
	seed   maphash.Seed
	logger *slog.Logger
}

func newKeys(o Options) keys {
	k := keys{order: o.Order, of: o.Key, seed: maphash.MakeSeed(), logger: o.Logger}
	if k.of == nil {
		k.of = messageKey
	}
	return k
}

// lane is a number for the key of a message, 0 for none. Two keys with the same number would wait for each other and lose nothing.
func (k *keys) lane(m *sarama.ConsumerMessage) uint64 {
	if k.order != ByKey {
		return 0
	}
	return k.hash(m)
}

// unkeyed is the lane of messages whose key cannot be told.
const unkeyed = 1

func (k *keys) hash(m *sarama.ConsumerMessage) (lane uint64) {
	defer func() {
		if v := recover(); v != nil {
			lane = unkeyed
			k.logger.LogAttrs(context.Background(), slog.LevelError, "the key function panicked", attrTopic(m.Topic), attrPartition(m.Partition),
				attrOffset(m.Offset), attrStack(newPanicError(v)))
		}
	}()
	key := k.of(m)
	if key == nil {
		return 0
	}
	return maphash.Bytes(k.seed, key) | 1
}

func (o Options) checkOrder() error {
	switch {
	case o.Order < ByPartition || o.Order > None:
		return fmt.Errorf("%w: Order is %d: set handler.ByPartition, ByKey or None", ErrOptions, o.Order)
	case o.Key != nil && o.Order != ByKey:
		return fmt.Errorf("%w: Key is set with order by %v: set Order to handler.ByKey, or Key to nil", ErrOptions, o.Order)
	case o.PartitionSlots < 0, o.PartitionSlots > 0 && o.Order == ByPartition:
		return fmt.Errorf("%w: PartitionSlots is %d with order by %v: set 0, or another Order and how many tasks of a partition may run at once",
			ErrOptions, o.PartitionSlots, o.Order)
	case o.KeySlots < 0, o.KeySlots > 0 && o.Order != ByKey:
		return fmt.Errorf("%w: KeySlots is %d with order by %v: set 0, or Order to handler.ByKey and how many tasks of a key may run at once",
			ErrOptions, o.KeySlots, o.Order)
	}
	return nil
}
