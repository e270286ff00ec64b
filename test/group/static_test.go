package group_test

import (
	"errors"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// KIP-345. The same instance id in two processes is a mistake of a deployment: the first one says so and ends, and does not take the
// partitions back from the second.
func TestAnotherProcessOfTheSameInstanceEndsTheFirst(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Input.InstanceID = "reports-1"
		g.Produce(1)
		gate := kit.NewGate()
		first := g.Start("first", gate.Hold)
		g.UntilSeen(1, kit.Started, kit.By("first"))
		second := g.Start("second", gate.Hold)
		g.UntilSeen(1, kit.Stopped, kit.By("first"))
		var fatal *consumer.FatalError
		if err := first.Err(); !errors.Is(err, sarama.ErrFencedInstancedId) || !errors.As(err, &fatal) {
			g.Errorf("Run returned %v, want a FatalError of FENCED_INSTANCE_ID", err)
		}
		g.UntilSeen(1, kit.Started, kit.By("second"))
		gate.Open()
		g.UntilAllHandled()
		second.Stop()
		g.WantAtMost(1, kit.Started, kit.By("second"))
		g.WantAtMost(0, kit.Cancelled, kit.By("second"))
	}, everywhere()...)
}
