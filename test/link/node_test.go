package link_test

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// TestOnlyNode: a cluster of one freezes, then restarts. The member's session and claims survive both, and commits are accepted again.
func TestOnlyNode(t *testing.T) {
	t.Parallel()
	node := kafkatest.Kafka(t, kafkatest.Options{Properties: map[string]string{"auto.create.topics.enable": "true"}})
	name := topic(t, node, 3)
	m := newMember(t, node, name, options{strategy: sarama.NewBalanceStrategyCooperativeSticky(), topics: []string{name}})
	eventually(t, "it holds all", func() bool { return m.holds() == 3 })
	for what, disturb := range map[string]func() error{
		"freeze": func() error {
			if err := node.Pause(); err != nil {
				return err
			}
			time.Sleep(7 * time.Second) // longer than the short deadline
			return node.Resume()
		},
		"restart": func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := node.Stop(ctx); err != nil {
				return err
			}
			return node.Start(t.Context())
		},
	} {
		if err := disturb(); err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		eventually(t, "a commit is accepted", func() bool { return m.tryCommit(name) })
		t.Logf("%s: commits accepted %s after it", what, time.Since(from))
		beats := m.wire.count(heartbeat)
		eventually(t, "heartbeats go on", func() bool { return m.wire.count(heartbeat) > beats+5 })
		if n := state(m, func() int { return m.sessions }); n != 1 {
			t.Fatalf("%s: %d sessions: %v", what, n, state(m, func() []error { return m.errs }))
		}
	}
	autoCreated(t, node)
}

// autoCreated: a topic that the first question creates is consumed at once, not after the next periodic refresh.
func autoCreated(t *testing.T, b kafkatest.Broker) {
	t.Helper()
	name := kafkatest.Name(t)
	m := newMember(t, b, name, options{
		strategy: sarama.NewBalanceStrategyCooperativeSticky(), topics: []string{name},
		change: func(conf *sarama.Config) { conf.Metadata.RefreshFrequency = time.Hour },
	})
	eventually(t, "it holds the partition", func() bool { return m.holds() == 1 })
}

// tryCommit commits once and looks for the coordinator where it has moved.
func (m *member) tryCommit(group string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	code, err := m.commit(ctx, 0, 1)
	if err == nil && code == sarama.ErrNotCoordinatorForConsumer {
		_ = m.link.RefreshCoordinator(group)
	}
	return err == nil && code == sarama.ErrNoError
}
