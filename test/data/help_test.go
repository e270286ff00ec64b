package data_test

import (
	"context"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// instant is a task that takes no time.
func instant(context.Context, *handler.Task) error { return nil }

// reauthAfter is how long a client of the shared node may go on with one authentication. Tests that are about it have longer tasks.
const reauthAfter = 6 * time.Second

// lasting is a task that takes that long.
func lasting(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// second is a task that takes one.
func second(ctx context.Context, _ *handler.Task) error { return lasting(ctx, time.Second) }

// brief is a task that takes a moment.
func brief(ctx context.Context, _ *handler.Task) error { return lasting(ctx, 20*time.Millisecond) }

// stable says that the group is at rest with that many members.
func stable(g *kit.Group, members int) bool {
	d, err := g.Broker.Group(g.Name)
	return err == nil && d.State == "Stable" && len(d.Members) == members
}

// nothing changes no configuration.
func nothing(*sarama.Config) {}
