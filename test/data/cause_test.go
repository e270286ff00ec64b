package data_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// manyErrors is an error that cannot be compared.
type manyErrors []error

func (manyErrors) Error() string { return "many" }

// causes that the context of Run may end with: an errgroup ends it with the error of whoever failed first, another consumer for one.
func causes() map[string]error {
	return map[string]error{
		"none":         nil,
		"broker":       sarama.ErrUnknownMemberId,
		"network":      &net.OpError{Op: "read", Err: errors.New("reset")},
		"incomparable": manyErrors{context.Canceled},
	}
}

// kinds hears how sessions end.
type kinds struct{ last atomic.Value }

func (k *kinds) OnSessionEnd(e consumer.SessionEnd) { k.last.Store(e.Kind) }

// A stop is a stop whatever its cause: the running task has the grace, and its offset is committed.
func TestAStopIsOneWhateverItsCause(t *testing.T) {
	t.Parallel()
	for name, cause := range causes() {
		for protocol, eager := range map[string]bool{"eager": true, "cooperative": false} {
			t.Run(name+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				b, end := kafkatest.Fake(t), &kinds{}
				g, gate := kit.Setting{Broker: b, Eager: eager}.Group(t, 1), kit.NewGate()
				g.Input.StopGrace = time.Minute
				g.ProduceTo(0, 1)
				started := make(chan struct{})
				c, err := consumer.New(consumer.Config{
					Brokers: b.Addrs(), Sarama: b.Config(), Group: g.Name, Topics: []string{g.Topic}, Plan: g.Plan(), Hooks: []any{end},
				}, handler.Func(func(ctx context.Context, t *handler.Task) error {
					close(started)
					return gate.Hold(ctx, t)
				}))
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancelCause(t.Context())
				done := make(chan error, 1)
				go func() { done <- c.Run(ctx) }() // ends with ctx
				<-started
				stop(cause)
				g.Until("it is stopping", func() bool { return c.Status().State == consumer.StateStopping })
				gate.Open()
				if err := <-done; err != nil {
					t.Errorf("Run returned %v", err)
				}
				if o := g.Committed(0); o != 1 || end.last.Load() != consumer.EndStop {
					t.Errorf("committed at %d, and the session ended by %q: want 1 and a stop", o, end.last.Load())
				}
			})
		}
	}
}
