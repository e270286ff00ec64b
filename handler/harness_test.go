package handler_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

const topic = "reports"

// group is a GroupHandler in a session, with what the test wants to know of it.
type group struct {
	*handler.GroupHandler
	t        testing.TB
	strategy sarama.OnAssignmentBalanceStrategy
	s        *session
	logs     *logBook
	seen     starts // offsets in the order in which they were started
	claims   sync.WaitGroup
}

// newGroup runs f for each message. Options.Logger is replaced.
func newGroup(tb testing.TB, o handler.Options, f handler.Func) *group {
	tb.Helper()
	g := &group{t: tb, s: newSession(), logs: &logBook{}}
	o.Logger = g.logs.logger()
	h, err := handler.New(handler.Func(func(ctx context.Context, m *handler.Task) error {
		g.seen.add(m.Offset)
		return f(ctx, m)
	}), o)
	if err != nil {
		tb.Fatal(err)
	}
	g.GroupHandler = h
	g.strategy = h.BalanceStrategies(sarama.NewBalanceStrategyCooperativeSticky())[0].(sarama.OnAssignmentBalanceStrategy)
	return g
}

// consume runs ConsumeClaim in the group's session and returns a channel that is closed when it has returned.
func (g *group) consume(c sarama.ConsumerGroupClaim) <-chan struct{} { return g.consumeIn(g.s, c) }

func (g *group) consumeIn(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) <-chan struct{} {
	done := make(chan struct{})
	g.claims.Go(func() {
		defer close(done)
		if err := g.ConsumeClaim(s, c); err != nil {
			g.t.Errorf("ConsumeClaim: %v", err)
		}
	})
	return done
}

// end stops the group and waits for all that it has started.
func (g *group) end() {
	g.s.cancel(errStopped)
	g.claims.Wait()
	if err := g.Wait(context.Background()); err != nil {
		g.t.Errorf("Wait: %v", err)
	}
}

// assign tells the handler what it owns now, as sarama does before it acts on it.
func (g *group) assign(partitions ...int32) {
	g.strategy.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{topic: partitions}}, g.s.next())
}

func (g *group) wantStarted(offsets ...int64) {
	g.t.Helper()
	if got := g.seen.all(); !slices.Equal(got, offsets) {
		g.t.Errorf("started %v, want %v", got, offsets)
	}
}

func (g *group) wantCommitted(partition int32, offset int64) {
	g.t.Helper()
	if got := g.s.committed(partition); got != offset {
		g.t.Errorf("partition %d committed %d, want %d", partition, got, offset)
	}
}

// protocol is how a rebalance takes a claim away.
type protocol struct {
	name   string
	revoke func(g *group, c *claim)
}

// eager ends the session. Messages is closed later; the handler does not wait for that.
var eager = protocol{"eager", func(g *group, _ *claim) { g.s.cancel(sarama.ErrRebalanceInProgress) }}

// protocols are eager, cooperative, and cooperative with strategies that are heard: there the assignment comes first.
var protocols = []protocol{
	eager,
	{"cooperative", func(_ *group, c *claim) { close(c.messages) }},
	{"cooperative heard", func(g *group, c *claim) {
		g.assign()
		close(c.messages)
	}},
}

// eachProtocol runs a test under each of them, in a bubble of virtual time.
func eachProtocol(t *testing.T, test func(t *testing.T, p protocol)) {
	t.Helper()
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, p) })
		})
	}
}

// inVirtualTime runs a test in a bubble.
func inVirtualTime(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// elapsed is how long f takes.
func elapsed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

func plan(tb testing.TB, in config.Input) *config.Plan {
	tb.Helper()
	p, err := in.Plan()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// options are for long tasks without any grace.
func options(tb testing.TB) handler.Options {
	tb.Helper()
	return with(tb, config.Input{Expected: time.Minute, Grace: config.NoGrace, StopGrace: config.NoGrace})
}

// short are options for tasks of a millisecond.
func short(tb testing.TB) handler.Options {
	tb.Helper()
	return with(tb, config.Input{Expected: time.Millisecond, Grace: config.NoGrace, StopGrace: config.NoGrace})
}

func with(tb testing.TB, in config.Input) handler.Options {
	tb.Helper()
	return handler.Options{Plan: plan(tb, in)}
}

// nothing is a handler that succeeds at once.
func nothing(context.Context, *handler.Task) error { return nil }

// deaf sleeps and does not look at its context.
func deaf(d time.Duration) handler.Func {
	return func(context.Context, *handler.Task) error {
		time.Sleep(d)
		return nil
	}
}

// obedient sleeps until its context ends, and returns its error then.
func obedient(d time.Duration) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errTask = errors.New("the task failed")

// starts records offsets in order.
type starts struct {
	mu   sync.Mutex
	list []int64
}

func (s *starts) add(o int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, o)
}

func (s *starts) all() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

func (s *starts) count() int { return len(s.all()) }
