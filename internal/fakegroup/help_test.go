package fakegroup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

const (
	group = "reports"
	topic = "requests"
)

// settings returns a configuration with round numbers, and room for a test's changes.
func settings(s sarama.BalanceStrategy, change ...func(*sarama.Config)) *sarama.Config {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V3_6_0_0
	cfg.ClientID = "m"
	cfg.ChannelBufferSize = 1
	cfg.Net.ReadTimeout = 3 * time.Minute
	cfg.Consumer.Return.Errors = true
	cfg.Consumer.MaxWaitTime = 250 * time.Millisecond
	cfg.Consumer.Offsets.Initial = sarama.OffsetOldest
	cfg.Consumer.Group.Session.Timeout = 45 * time.Second
	cfg.Consumer.Group.Heartbeat.Interval = 3 * time.Second
	cfg.Consumer.Group.Rebalance.Timeout = 60 * time.Second
	cfg.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{s}
	for _, c := range change {
		c(cfg)
	}
	return cfg
}

func eager(change ...func(*sarama.Config)) *sarama.Config {
	return settings(sarama.NewBalanceStrategySticky(), change...)
}

func cooperative(change ...func(*sarama.Config)) *sarama.Config {
	return settings(sarama.NewBalanceStrategyCooperativeSticky(), change...)
}

// eachProtocol runs a test under both protocols, in virtual time.
func eachProtocol(t *testing.T, f func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config)) {
	t.Run("eager", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, eager) }) })
	t.Run("cooperative", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, cooperative) }) })
}

// recorder is a handler that keeps a log of what happened, and calls claim for each claim.
type recorder struct {
	claim func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error
	setup func(sarama.ConsumerGroupSession) error
	clean func(sarama.ConsumerGroupSession) error

	mu      sync.Mutex
	events  []string
	session sarama.ConsumerGroupSession
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *recorder) log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.events...)
}

func (r *recorder) current() sarama.ConsumerGroupSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session
}

func (r *recorder) Setup(s sarama.ConsumerGroupSession) error {
	r.mu.Lock()
	r.session = s
	r.mu.Unlock()
	r.note("setup")
	if r.setup != nil {
		return r.setup(s)
	}
	return nil
}

func (r *recorder) Cleanup(s sarama.ConsumerGroupSession) error {
	r.note("cleanup")
	if r.clean != nil {
		return r.clean(s)
	}
	return nil
}

func (r *recorder) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	r.note("claim %d", c.Partition())
	defer r.note("return %d", c.Partition())
	if r.claim != nil {
		return r.claim(s, c)
	}
	for m := range c.Messages() {
		s.MarkMessage(m, "")
	}
	return nil
}

// member runs Consume in a loop until stopped.
type member struct {
	*fakegroup.Group
	h      *recorder
	cancel context.CancelFunc
	done   chan struct{}
}

func join(t *testing.T, c *fakegroup.Cluster, cfg *sarama.Config, h *recorder) *member {
	t.Helper()
	return run(t, newGroup(t, c, cfg), h)
}

func newGroup(t *testing.T, c *fakegroup.Cluster, cfg *sarama.Config) *fakegroup.Group {
	t.Helper()
	g, err := fakegroup.NewGroup(c, group, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func run(t *testing.T, g *fakegroup.Group, h *recorder) *member {
	ctx, cancel := context.WithCancel(t.Context())
	m := &member{Group: g, h: h, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		for ctx.Err() == nil {
			err := g.Consume(ctx, []string{topic}, h)
			h.note("consume: %v", err)
			if errors.Is(err, sarama.ErrClosedConsumerGroup) {
				return
			}
			time.Sleep(100 * time.Millisecond) // a member that fails at once must not stop the bubble's clock
		}
	}()
	t.Cleanup(func() { m.stop() })
	return m
}

// stop cancels, waits and leaves.
func (m *member) stop() {
	m.cancel()
	<-m.done
	_ = m.Close()
}

// pass lets d go by and everything settle.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func newCluster(partitions int) *fakegroup.Cluster {
	c := fakegroup.NewCluster()
	c.CreateTopic(topic, partitions)
	return c
}

func wantCommitted(t *testing.T, c *fakegroup.Cluster, partition int32, want int64) {
	t.Helper()
	if got, _ := c.Committed(group, topic, partition); got != want {
		t.Errorf("committed %s/%d: %d, want %d", topic, partition, got, want)
	}
}

func wantLog(t *testing.T, h *recorder, want ...string) {
	t.Helper()
	if got := h.log(); !slices.Equal(got, want) {
		t.Errorf("events\n got %q\nwant %q", got, want)
	}
}
