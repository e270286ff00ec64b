package data_test

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B10c, over sarama's own claims: the handler of one of a hundred messages that lie ready ends the session, or the membership, just
// before it returns, and none of the others starts. The repetitions are those of package handler: TestNothingStartsAfterRevocation.
func TestB10NothingStartsAfterATaskThatEndsTheSession(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		for range 5 {
			g := s.Group(t, 1)
			g.Input.Expected = 10 * time.Millisecond // with a buffer to match
			g.ProduceTo(0, 100)
			stop := make(chan func() time.Time, 1)
			m := g.Start("a", func(_ context.Context, t *handler.Task) error {
				if t.Offset == 40 {
					(<-stop)()
				}
				return nil
			})
			stop <- m.BeginStop
			<-m.Done()
			m.AwaitStop()
			g.WantAtMost(41, kit.Started)
			if o := g.Committed(0); o != 41 {
				g.Errorf("committed at %d, want 41", o)
			}
		}
	}, everywhere()...)
}

// B10b, with a rebalance: what lies ready behind the tasks of the partitions that move is started by their next
// owner alone.
func TestB10NothingStartsOnAPartitionThatMoves(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 4)
		g.Input.Grace = config.NoGrace
		g.Produce(50)
		gate := kit.NewGate()
		a := g.Start("a", gate.Hold)
		g.UntilSeen(4, kit.Started)
		b := g.Start("b", gate.Hold)
		g.Until("each works on two", func() bool { return a.Status().Running == 2 && b.Status().Running == 2 })
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		b.Stop()
		for p := range g.Partitions {
			wantRuns(g, p, 0, 50)
			g.WantAtMost(49, kit.Started, kit.OnPartition(p), kit.From(1))
		}
	}, everywhere()...)
}

// B11. A message without key, value and headers goes through, and so does the tombstone of a key.
func TestB11AnEmptyMessageIsHandledAndCommitted(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		tombstone := &sarama.ProducerMessage{Topic: g.Topic, Key: sarama.StringEncoder("k")}
		if err := g.Broker.Send(&sarama.ProducerMessage{Topic: g.Topic}, tombstone); err != nil {
			t.Fatal(err)
		}
		got := make(chan sarama.ConsumerMessage, 2)
		m := g.Start("a", func(_ context.Context, t *handler.Task) error {
			got <- *t.ConsumerMessage
			return nil
		})
		g.UntilAllHandled()
		m.Stop()
		if e := <-got; e.Key != nil || e.Value != nil || len(e.Headers) != 0 {
			g.Errorf("the empty message is %+v", e)
		}
		if e := <-got; string(e.Key) != "k" || e.Value != nil {
			g.Errorf("the tombstone is %+v", e)
		}
	}, everywhere()...)
}
