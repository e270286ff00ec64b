package data_test

import (
	"context"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// instant is a task that takes no time.
func instant(context.Context, *handler.Task) error { return nil }

// reauthAfter is how long a client of the shared node may go on with one authentication. Tests that are about it have longer tasks.
const reauthAfter = 3 * time.Second

// brief is a task that takes a moment.
func brief(ctx context.Context, _ *handler.Task) error { return lasting(ctx, 20*time.Millisecond) }

// stable says that the group is at rest with that many members.
func stable(g *kit.Group, members int) bool {
	d, err := g.Broker.Group(g.Name)
	return err == nil && d.State == "Stable" && len(d.Members) == members
}
