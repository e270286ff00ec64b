package peers

import (
	"context"
	"errors"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
)

// Watermill is a handler of a Watermill router over its Kafka subscriber.
type Watermill struct{}

// Name implements Peer.
func (Watermill) Name() string { return "watermill" }

// Says implements Peer.
func (Watermill) Says() string {
	return "a router's handler over watermill-kafka: one message a partition at a time, acknowledged when the handler returns; commits each second"
}

// Orders implements Peer.
func (Watermill) Orders() []Order { return []Order{ByPartition} }

// Run implements Peer.
func (Watermill) Run(ctx context.Context, s Settings, work Work) error {
	logger := watermill.NopLogger{}
	subscriber, err := kafka.NewSubscriber(kafka.SubscriberConfig{
		Brokers:               s.Brokers,
		Unmarshaler:           kafka.DefaultMarshaler{},
		ConsumerGroup:         s.Group,
		OverwriteSaramaConfig: saramaConfig(s),
	}, logger)
	if err != nil {
		return err
	}
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: s.Grace}, logger)
	if err != nil {
		return err
	}
	router.AddConsumerHandler("tasks", s.Topic, subscriber, func(m *message.Message) error {
		at, err := position(m.Context())
		if err != nil {
			return err
		}
		return work(m.Context(), at)
	})
	return router.Run(ctx)
}

// position reads where a message lies: Watermill's own messages do not say it.
func position(ctx context.Context) (m Message, err error) {
	var hasPartition, hasOffset bool
	m.Partition, hasPartition = kafka.MessagePartitionFromCtx(ctx)
	m.Offset, hasOffset = kafka.MessagePartitionOffsetFromCtx(ctx)
	if !hasPartition || !hasOffset {
		return m, errNoPosition
	}
	return m, nil
}

var errNoPosition = errors.New("the message does not say where it lies")
