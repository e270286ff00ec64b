package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// group is the consumer group. In a real service each member is a process of its own.
type group struct {
	opts    options
	cluster *cluster
	plan    *config.Plan
	ledger  *ledger
	fail    context.CancelCauseFunc // ends the play

	mu      sync.Mutex
	members []*member
}

// member is one consumer and the goroutine that runs it.
type member struct {
	name     string
	consumer *consumer.Consumer
	stop     context.CancelFunc
	done     chan struct{} // closed when Run has returned
}

// newGroup derives the plan. Tasks take 2 s as a rule; the short heartbeat interval lets rebalances begin at once, for the eye.
func newGroup(o options, c *cluster, l *ledger, fail context.CancelCauseFunc) (*group, error) {
	plan, err := config.Input{
		Expected:  2 * time.Second,
		Heartbeat: 300 * time.Millisecond,
		Eager:     o.protocol == "eager",
	}.Plan()
	return &group{opts: o, cluster: c, plan: plan, ledger: l, fail: fail}, err
}

// join starts a member and returns at once.
func (g *group) join(name string) error {
	c, err := consumer.New(consumer.Config{
		Brokers: g.cluster.Addrs(),
		Group:   g.cluster.group,
		Topics:  []string{g.cluster.topic},
		Plan:    g.plan,
		Logger:  g.logger(name),
		Hooks:   []any{hooks{member: name, ledger: g.ledger}},
	}, g.handler(name))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	m := &member{name: name, consumer: c, stop: stop, done: make(chan struct{})}
	g.add(m)
	g.ledger.note("%s starts", name)
	// Ends with leave, or when Run fails.
	go func() {
		defer close(m.done)
		if err := c.Run(ctx); err != nil {
			g.fail(fmt.Errorf("member %s: %w", name, err))
		}
	}()
	return nil
}

// handler does the work of a message: it waits for as long as the message says, and obeys its context.
func (g *group) handler(member string) handler.Func {
	return func(ctx context.Context, t *handler.Task) error {
		d, err := time.ParseDuration(string(t.Value))
		if err != nil {
			return err
		}
		running := task{member: member, offset: t.Offset}
		g.ledger.start(t.Partition, running)
		err = wait(ctx, d)
		g.ledger.end(t.Partition, running, err)
		return err
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) // says why: a rebalance, a stop, a lost membership
	}
}

// leave stops a member in order: its running tasks end, what is finished is committed, and the group knows at once that it is gone.
func (g *group) leave(name string) {
	for _, m := range g.present() {
		if m.name == name {
			g.tellToStop(m)
			g.awaitEnd(m)
		}
	}
}

// leaveAll stops the members that are left, all at once.
func (g *group) leaveAll() {
	members := g.present()
	for _, m := range members {
		g.tellToStop(m)
	}
	for _, m := range members {
		g.awaitEnd(m)
	}
}

func (g *group) tellToStop(m *member) {
	g.ledger.note("%s stops", m.name)
	m.stop()
}

func (g *group) awaitEnd(m *member) {
	<-m.done
	g.remove(m)
	g.ledger.note("%s has left", m.name)
}

func (g *group) logger(member string) *slog.Logger {
	level := slog.LevelWarn
	if g.opts.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With(slog.String("who", member))
}

func (g *group) add(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, m)
}

func (g *group) remove(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(one *member) bool { return one == m })
}

// present are the members that have started and not left.
func (g *group) present() []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.SortedFunc(slices.Values(g.members), func(a, b *member) int { return cmp.Compare(a.name, b.name) })
}

// hooks tell the ledger what a member hears.
type hooks struct {
	member string
	ledger *ledger
}

var (
	_ consumer.RebalanceHook = hooks{}
	_ consumer.CommitHook    = hooks{}
)

// OnRebalance implements consumer.RebalanceHook.
func (h hooks) OnRebalance(r consumer.Rebalance) { h.ledger.rebalance(h.member, r) }

// OnCommit implements consumer.CommitHook.
func (h hooks) OnCommit(c consumer.Commit) {
	if c.Err == nil {
		h.ledger.commit(c.Partition, c.Offset)
	}
}
