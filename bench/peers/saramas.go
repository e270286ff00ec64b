package peers

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
)

// saramaConfig is sarama's default, but for where a new group begins and what the settings say.
func saramaConfig(s Settings) *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.MaxVersion
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	if s.Session > 0 {
		c.Consumer.Group.Session.Timeout = s.Session
		c.Consumer.Group.Heartbeat.Interval = s.Session / 3
	}
	return c
}

// consume is the loop around Consume that sarama asks of its user.
func consume(ctx context.Context, s Settings, c *sarama.Config, h sarama.ConsumerGroupHandler) error {
	group, err := sarama.NewConsumerGroup(s.Brokers, s.Group, c)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := group.Consume(ctx, []string{s.Topic}, h)
		if errors.Is(err, sarama.ErrClosedConsumerGroup) {
			break
		}
		if err != nil {
			pause(ctx, time.Second)
		}
	}
	return group.Close()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// plainSession has nothing to set up.
type plainSession struct{}

// Setup implements sarama.ConsumerGroupHandler.
func (plainSession) Setup(sarama.ConsumerGroupSession) error { return nil }

// Cleanup implements sarama.ConsumerGroupHandler.
func (plainSession) Cleanup(sarama.ConsumerGroupSession) error { return nil }
