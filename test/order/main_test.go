// Package order_test has the scenarios in which several tasks of a partition run at once and end in any order: what is recorded, what runs
// again, how much is held, and who gets his turn. What a scenario by partition says too is in the other packages, for all orders.
package order_test

import (
	"context"
	"testing"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) {
	kit.Main(m, &shared, kit.Programs{"10 last": tenLast})
}

// everywhere is for what the in-process broker does as a real one.
func everywhere() []kit.Place {
	return []kit.Place{kit.Fake, kit.Kafka(&shared, kit.Version())}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// instant is a task that takes no time.
func instant(context.Context, *handler.Task) error { return nil }

// holding is a handler that holds some messages until the gate opens, and is done with the others at once.
func holding(g *kit.Gate, which func(o int64) bool) handler.Func {
	return func(ctx context.Context, t *handler.Task) error {
		if which(t.Offset) {
			return g.Hold(ctx, t)
		}
		return nil
	}
}
