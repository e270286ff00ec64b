package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// scripted is a group whose sessions go as the test says: consume runs between Setup and Cleanup, and what it returns is the cause with
// which the session ends.
type scripted struct {
	sarama.ConsumerGroup
	consume func(run context.Context) (cause error)
	errs    chan error
	n       int // sessions that began
}

func (g *scripted) Errors() <-chan error { return g.errs }

func (g *scripted) Consume(ctx context.Context, _ []string, h sarama.ConsumerGroupHandler) error {
	g.n++
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &ending{saramas: session(), ctx: within}
	if err := h.Setup(s); err != nil {
		return err
	}
	end(g.consume(ctx))
	return h.Cleanup(s)
}

// ending is a session with a context that ends.
type ending struct {
	*saramas
	ctx context.Context
}

func (s *ending) Context() context.Context { return s.ctx }
func (*ending) Claims() map[string][]int32 { return map[string][]int32{"t": {0}} }

// runScripted runs a consumer over g until ctx ends, and returns what the hooks have heard of errors.
func runScripted(ctx context.Context, t *testing.T, g *scripted) []error {
	t.Helper()
	g.errs = make(chan error)
	heard := &failures{}
	c := newConsumer(t, func(cfg *consumer.Config) {
		cfg.Brokers, cfg.Hooks = nil, []any{heard}
		cfg.ConsumerGroup = func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) { return g, nil }
	})
	if err := c.Run(ctx); err != nil {
		t.Errorf("Run returned %v", err)
	}
	return heard.list
}

// failures hears errors.
type failures struct {
	mu   sync.Mutex
	list []error
}

func (f *failures) OnError(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, err)
}

// B33, B44: a claim that cannot start ends its session, again and again. Such sessions come more and more seldom; those that a
// rebalance ends follow one another at once.
func TestSessionsThatEndByThemselvesDoNotSpin(t *testing.T) {
	for name, test := range map[string]struct {
		cause       error
		least, most int
	}{
		"claim failed": {sarama.ErrSessionConsumeClaimExited, 7, 20}, // pauses from a quarter of a second to 10 s
		"rebalance":    {sarama.ErrRebalanceInProgress, 500, 601},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(context.Background(), time.Minute)
				defer stop()
				g := &scripted{consume: func(context.Context) error {
					time.Sleep(100 * time.Millisecond)
					return test.cause
				}}
				_ = runScripted(ctx, t, g)
				if g.n < test.least || g.n > test.most {
					t.Errorf("%d sessions in a minute, want %d to %d", g.n, test.least, test.most)
				}
			})
		})
	}
}

// A connection that breaks is told. One that is closed at a stop is our own doing; what else goes wrong then is told all the same.
func TestAStopTellsNoErrorOfItsOwnClosing(t *testing.T) {
	closed := &sarama.ConsumerError{Topic: "t", Err: &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed}}
	worse := errors.New("out of range")
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		var g *scripted
		g = &scripted{consume: func(run context.Context) error {
			g.errs <- fmt.Errorf("before the stop: %w", closed)
			synctest.Wait() // it is told
			stop()
			synctest.Wait() // the stop is under way
			g.errs <- closed
			g.errs <- worse
			return context.Cause(run)
		}}
		heard := runScripted(ctx, t, g)
		if len(heard) != 2 || !errors.Is(heard[0], net.ErrClosed) || !errors.Is(heard[1], worse) {
			t.Errorf("told of %v, want that of before the stop and %v", heard, worse)
		}
	})
}
