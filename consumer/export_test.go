package consumer

import (
	"context"
	"log/slog"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// KindOf, Explain, Pauses, Warner and Diff open internals to the tests.
var KindOf = kindOf

func (c *Consumer) Explain(err error) error { return c.explain(err) }

// Judge is one more failed try of a run of tries.
func (c *Consumer) Judge(tries *Tries, err error) error { return c.judge(err, &tries.backoff) }

func (c *Consumer) SetJoined() { c.watched.joined("m-1", 1) }

type Tries struct{ backoff }

func (t *Tries) Next() time.Duration { return t.next() }

func Warner(l *slog.Logger) func(kind string) {
	t := newThrottle(l)
	return func(kind string) { t.warn(kind, "trouble") }
}

// Guard runs a lease of which no heartbeat is ever answered, and returns why the tasks were cancelled at its end.
func (c *Consumer) Guard() error {
	m := &membership{Consumer: c, plan: c.cfg.Plan}
	s := &session{m: m, round: newRound(context.Background())}
	newLeaseKeeper(s).guard(context.Background())
	return context.Cause(s.round.work)
}

// Hear makes a consumer hear an assignment, as sarama's strategy would.
func (c *Consumer) Hear(a strategy.Assignment, generation int32) {
	(&membership{Consumer: c}).assigned(a, generation)
}
