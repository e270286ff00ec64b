package order_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

var errNotYet = errors.New("not yet")

// The first message fails again and again. What shares its key, or its partition, waits for it, and the others do not: with one slot, which
// is free between two attempts.
func TestAFailingTaskHoldsUpItsOwnKeyAlone(t *testing.T) {
	const n = 30
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g, gate := s.Group(t, 1), kit.NewGate()
		g.Slots = 1
		g.ProduceTo(0, n)
		g.Watch()
		m := g.Start("a", func(_ context.Context, t *handler.Task) error {
			select {
			case <-gate.Opened():
				return nil
			default:
			}
			if t.Offset == 0 {
				return errNotYet
			}
			return nil
		}, func(c *consumer.Config) {
			c.Retry = retry.Policy{Initial: 20 * time.Millisecond, Max: 50 * time.Millisecond}
		})
		g.UntilFinished(0, 0, where(n, goesOn(s.Order))...)
		g.UntilSeen(5, kit.Started, kit.AtOffset(0))
		if got := g.Count(kit.Returned, kit.Well()); got != len(where(n, goesOn(s.Order))) {
			g.Errorf("%d are done while the first one fails", got)
		}
		gate.Open()
		g.UntilAllHandled()
		m.Stop()
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}

// goesOn says what is done while message 0 fails, of messages that have three keys in turn.
func goesOn(o handler.Order) func(int64) bool {
	switch o {
	case handler.ByKey:
		return not(thirds)
	case handler.None:
		return not(func(o int64) bool { return o == 0 })
	default:
		return not(all)
	}
}
