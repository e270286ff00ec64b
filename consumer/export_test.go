package consumer

import (
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

// Hear makes a consumer hear an assignment, as sarama's strategy would.
func (c *Consumer) Hear(a strategy.Assignment, generation int32) {
	(&membership{Consumer: c}).assigned(a, generation)
}
