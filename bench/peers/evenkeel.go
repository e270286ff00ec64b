package peers

import (
	"context"
	"log/slog"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// Evenkeel is this library. With Sticky it offers cooperative-sticky instead of its own strategy: what a rebalance costs without that.
type Evenkeel struct{ Sticky bool }

// Name implements Peer.
func (e Evenkeel) Name() string {
	if e.Sticky {
		return "evenkeel_sticky"
	}
	return "evenkeel"
}

// Says implements Peer.
func (e Evenkeel) Says() string {
	if e.Sticky {
		return "the same with cooperative-sticky"
	}
	return "this library with what config.For derives from how long a task takes, and its own balance strategy, cooperative"
}

// Orders implements Peer.
func (Evenkeel) Orders() []Order { return []Order{ByPartition, ByKey, None} }

// Run implements Peer.
func (e Evenkeel) Run(ctx context.Context, s Settings, work Work) error {
	plan, err := config.Input{
		Expected: max(s.Task, time.Millisecond), Max: s.Longest, StopGrace: s.Grace, CrashDetection: s.Session,
	}.Plan()
	if err != nil {
		return err
	}
	base := sarama.NewConfig()
	base.Version = sarama.MaxVersion
	if e.Sticky {
		base.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	}
	c, err := consumer.New(consumer.Config{
		Brokers: s.Brokers, Group: s.Group, Topics: []string{s.Topic}, Plan: plan, Sarama: base,
		Order: evenkeelOrder(s.Order), Slots: s.Slots, Logger: slog.New(slog.DiscardHandler),
	}, handler.Func(func(ctx context.Context, t *handler.Task) error {
		return work(ctx, Message{t.Partition, t.Offset})
	}))
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func evenkeelOrder(o Order) handler.Order {
	switch o {
	case ByKey:
		return handler.ByKey
	case None:
		return handler.None
	default:
		return handler.ByPartition
	}
}
