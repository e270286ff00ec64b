package fakegroup_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// consumer_group.go:864-905: the leader alone watches, every Metadata.RefreshFrequency.
func TestAddedPartitionsAreClaimedAfterARefresh(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		a := join(t, c, config(func(cfg *sarama.Config) { cfg.Metadata.RefreshFrequency = time.Minute }), &recorder{})
		pass(time.Second)
		c.AddPartitions(topic, 3)
		pass(50 * time.Second)
		if n := len(a.h.current().Claims()[topic]); n != 1 {
			t.Fatalf("%d claims before the refresh", n)
		}
		pass(15 * time.Second)
		if n := len(a.h.current().Claims()[topic]); n != 3 {
			t.Errorf("%d claims after the refresh, want 3", n)
		}
		c.AddPartitions(topic, 5)
		pass(65 * time.Second)
		if n := len(a.h.current().Claims()[topic]); n != 5 {
			t.Errorf("%d claims after the next refresh, want 5", n)
		}
	})
}

func TestMissingTopicFailsConsume(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := newGroup(t, fakegroup.NewCluster(), eager())
		if err := g.Consume(t.Context(), []string{"nowhere"}, &recorder{}); !errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
			t.Errorf("Consume: %v", err)
		}
		if err := g.Consume(t.Context(), nil, &recorder{}); err == nil {
			t.Error("Consume without topics: no error")
		}
	})
}

func TestDeletedTopicEndsTheSession(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		g := newGroup(t, c, config(func(cfg *sarama.Config) { cfg.Metadata.RefreshFrequency = time.Minute }))
		done := make(chan error, 1)
		go func() { done <- g.Consume(t.Context(), []string{topic}, &recorder{}) }()
		pass(time.Second)
		c.DeleteTopic(topic)
		pass(62 * time.Second)
		select {
		case err := <-done:
			t.Logf("Consume: %v", err)
		default:
			t.Error("the session outlives its topic")
		}
	})
}

func TestBrokerBoundsAreEnforced(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		for _, d := range []time.Duration{5 * time.Second, 31 * time.Minute} {
			g := newGroup(t, c, eager(func(cfg *sarama.Config) { cfg.Consumer.Group.Session.Timeout = d }))
			if err := g.Consume(t.Context(), []string{topic}, &recorder{}); !errors.Is(err, sarama.ErrInvalidSessionTimeout) {
				t.Errorf("session timeout %v: %v", d, err)
			}
		}
	})
}

// A newcomer without a common strategy is refused and disturbs nobody (B32).
func TestMembersWithoutACommonStrategyAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		a := join(t, c, cooperative(), &recorder{})
		pass(time.Second)
		g := newGroup(t, c, settings(sarama.NewBalanceStrategyRange()))
		if err := g.Consume(t.Context(), []string{topic}, &recorder{}); !errors.Is(err, sarama.ErrInconsistentGroupProtocol) {
			t.Errorf("Consume: %v", err)
		}
		pass(10 * time.Second)
		wantLog(t, a.h, "setup", "claim 0")
	})
}

// group.initial.rebalance.delay.ms: members that come together get one generation.
func TestInitialDelayGathersMembers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := fakegroup.NewClusterWith(fakegroup.Settings{InitialRebalanceDelay: 3 * time.Second})
		c.CreateTopic(topic, 3)
		var all []*member
		for range 3 {
			all = append(all, join(t, c, eager(), &recorder{}))
			pass(time.Second)
		}
		pass(20 * time.Second)
		for _, m := range all {
			if s := m.h.current(); s.GenerationID() != 1 || len(s.Claims()[topic]) != 1 {
				t.Errorf("generation %d, claims %v", s.GenerationID(), s.Claims())
			}
		}
	})
}

// rebalance_protocol.go:50-84.
func TestMixedStrategiesAreEager(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		mixed := func(cfg *sarama.Config) {
			cfg.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{
				sarama.NewBalanceStrategyCooperativeSticky(), sarama.NewBalanceStrategyRange(),
			}
		}
		a := join(t, c, eager(mixed), &recorder{})
		pass(time.Second)
		c.Rebalance(group)
		pass(10 * time.Second)
		if !slices.Contains(a.h.log(), "cleanup") {
			t.Errorf("a mixed list did not end the session: %q", a.h.log())
		}
	})
}
