package handler

import "context"

// LegacyHandler is the shape of a handler that takes a message as plain values. It is called from several goroutines at once, unless
// Options.Slots is 1.
type LegacyHandler interface {
	Handle(name, topic string, partition int32, offset int64, key, value string) error
}

// Legacy adapts a [LegacyHandler]; name is passed to it with each message. Key and value are copied; nil becomes "". Its errors are
// retried as those of any handler.
//
// Such a handler does not see its context and cannot be cancelled. A rebalance or a stop waits for it until the grace is over.
// Where the partition may come back to this member the handler then goes on, and its result counts when it does, as with any handler; else
// the result is dropped. With Slots 1 it is called strictly one message at a time. A nil h makes a nil Handler, which [New] refuses.
func Legacy(name string, h LegacyHandler) Handler {
	if isNil(h) {
		return nil // New names the fault
	}
	return Func(func(_ context.Context, t *Task) error {
		return h.Handle(name, t.Topic, t.Partition, t.Offset, string(t.Key), string(t.Value))
	})
}
