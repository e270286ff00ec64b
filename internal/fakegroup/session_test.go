package fakegroup_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// consumer_group.go:231: a second Consume waits for the first.
func TestOneConsumeAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := join(t, newCluster(1), eager(), &recorder{})
		pass(time.Second)
		second := &recorder{}
		ended := make(chan error, 1)
		go func() { ended <- a.Consume(t.Context(), []string{topic}, second) }()
		pass(time.Minute)
		wantLog(t, second)
		a.stop()
		if err := <-ended; err != nil {
			t.Errorf("second Consume: %v", err)
		}
		wantLog(t, second, "setup", "claim 0", "return 0", "cleanup")
	})
}

// consumer_group_session.go:288-296: a claim whose session has ended is not consumed.
func TestNoClaimStartsInAnEndedSession(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		g := newGroup(t, newCluster(3), config())
		ctx, cancel := context.WithCancel(t.Context())
		h := &recorder{setup: func(sarama.ConsumerGroupSession) error { cancel(); return nil }}
		if err := g.Consume(ctx, []string{topic}, h); err != nil {
			t.Errorf("Consume: %v", err)
		}
		wantLog(t, h, "setup", "cleanup")
	})
}

// consumer_group_cooperative.go:112: the watch goes on in the next generation.
func TestCooperativeLeaderWatchesAfterARebalance(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		minute := func(cfg *sarama.Config) { cfg.Metadata.RefreshFrequency = time.Minute }
		a := join(t, c, cooperative(minute), &recorder{})
		pass(time.Second)
		b := join(t, c, cooperative(minute), &recorder{})
		pass(20 * time.Second)
		c.AddPartitions(topic, 4)
		pass(2 * time.Minute)
		if n := len(a.h.current().Claims()[topic]) + len(b.h.current().Claims()[topic]); n != 4 {
			t.Errorf("%d claims, want 4", n)
		}
	})
}

// GroupMetadata.rebalanceTimeoutMs: a round waits for the longest rebalance timeout of all members.
func TestRoundWaitsForTheLongestRebalanceTimeout(t *testing.T) {
	for _, first := range []time.Duration{10 * time.Second, 50 * time.Second} {
		inBubble(t, func(t *testing.T) {
			c := newCluster(1)
			hold := make(chan struct{})
			timeout := func(d time.Duration) func(*sarama.Config) {
				return func(cfg *sarama.Config) { cfg.Consumer.Group.Rebalance.Timeout = d }
			}
			a := join(t, c, eager(timeout(first)), &recorder{claim: func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error { <-hold; return nil }})
			defer a.stop()
			defer close(hold)
			pass(time.Second)
			join(t, c, eager(timeout(time.Minute-first)), &recorder{})
			pass(49 * time.Second)
			if state, _ := c.GroupState(group); state != "PreparingRebalance" {
				t.Errorf("group is %s after 49s, want the round to last for 50s", state)
			}
			pass(2 * time.Second)
			if state, _ := c.GroupState(group); state != "Stable" {
				t.Errorf("group is %s after 51s", state)
			}
		})
	}
}

// An answer that comes while the network is cut is lost.
func TestAnAnswerToACutOffJoinIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		hold := make(chan struct{})
		a := join(t, c, eager(), &recorder{claim: func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error { <-hold; return nil }})
		pass(time.Second)
		g := newGroup(t, c, eager())
		began := time.Now()
		done := make(chan error, 1)
		go func() {
			done <- g.Consume(t.Context(), []string{topic}, &recorder{})
			if took := time.Since(began); took != 3*time.Minute {
				t.Errorf("Consume took %v, want the read timeout of the join", took)
			}
		}()
		pass(time.Second)
		g.Cut()
		close(hold)
		pass(10 * time.Second)
		if len(c.Members(group)) != 2 || len(done) != 0 {
			t.Errorf("members %v, Consume returned %d times; want the join pending at the member and done at the broker", c.Members(group), len(done))
		}
		pass(3 * time.Minute)
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Consume: %v", err)
		}
		g.Mend()
		a.stop()
	})
}

// carrier gives each member user data with its assignment, as the eager sticky strategy does.
type carrier struct {
	sarama.BalanceStrategy
	seen func(data []byte)
}

func (c *carrier) AssignmentData(string, map[string][]int32, int32) ([]byte, error) {
	return []byte("carried"), nil
}

func (c *carrier) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	for _, m := range members {
		c.seen(m.UserData)
	}
	return c.BalanceStrategy.Plan(members, topics)
}

// consumer_group.go:515-519: the assignment's user data goes into the next join, also in a new session.
func TestAssignmentDataIsCarriedToTheNextJoin(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		h := &recorder{}
		join(t, c, settings(&carrier{sarama.NewBalanceStrategyRange(), func(data []byte) { h.note("data %q", data) }}), h)
		pass(time.Second)
		c.Rebalance(group)
		pass(10 * time.Second)
		if log := h.log(); !slices.Contains(log, `data ""`) || !slices.Contains(log, `data "carried"`) {
			t.Errorf("events %q", log)
		}
	})
}
