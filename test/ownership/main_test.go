// Package ownership_test has the attacks on what proves that a partition is still ours, as scenarios: each is named after the experiment
// that broke an earlier form of the rule. A rival, which the test drives by hand, leads the group and gives partitions away as it likes.
package ownership_test

import (
	"context"
	"testing"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) { kit.Main(m, &shared, kit.Programs{"moments": moments}) }

// everywhere is for what the in-process broker does as a real one.
func everywhere() []kit.Place {
	return []kit.Place{kit.Fake, kit.Kafka(&shared, kit.Version())}
}

// eachEager runs a scenario of the eager protocol alone on each broker.
func eachEager(t *testing.T, f func(t *testing.T, s kit.Setting)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]func(*testing.T) kafkatest.Broker{
		"kfake": func(t *testing.T) kafkatest.Broker { t.Helper(); return kafkatest.Fake(t) },
		"kafka": func(t *testing.T) kafkatest.Broker { t.Helper(); return shared.Kafka(t, kit.Version()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, kit.Setting{Broker: open(t), Eager: true})
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lateSuccess is a handler whose task succeeds when its context ends: the worst moment.
func lateSuccess(g *kit.Gate) handler.Func {
	return func(ctx context.Context, t *handler.Task) error {
		_ = g.Hold(ctx, t)
		return nil
	}
}
