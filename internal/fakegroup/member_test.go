package fakegroup_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// A crash: the partitions are idle until the session timeout is over.
func TestKilledMemberIsExpelledAfterItsSessionTimeout(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(2)
		a := join(t, c, config(), &recorder{})
		pass(time.Second)
		b := join(t, c, config(), &recorder{})
		pass(20 * time.Second)
		a.h.current().MarkOffset(topic, 0, 7, "")
		a.h.current().MarkOffset(topic, 1, 7, "")
		a.Kill()
		<-a.done
		pass(41 * time.Second)
		if n := len(c.Members(group)); n != 2 {
			t.Fatalf("%d members before the session timeout, want 2", n)
		}
		pass(10 * time.Second)
		if n := len(b.h.current().Claims()[topic]); n != 2 {
			t.Errorf("survivor holds %d claims, want 2", n)
		}
		wantCommitted(t, c, 0, -1)
		wantCommitted(t, c, 1, -1)
	})
}

// consumer_group.go:770-815: Close leaves, and the others take over at their next heartbeat.
func TestCloseLeavesTheGroup(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(2)
		a := join(t, c, config(), &recorder{})
		b := join(t, c, config(), &recorder{})
		pass(20 * time.Second)
		a.stop()
		pass(4 * time.Second)
		if n := len(b.h.current().Claims()[topic]); n != 2 {
			t.Errorf("the other holds %d claims, want 2", n)
		}
		if _, open := <-a.Errors(); open {
			t.Error("Errors is open after Close")
		}
		if err := a.Consume(t.Context(), []string{topic}, a.h); !errors.Is(err, sarama.ErrClosedConsumerGroup) {
			t.Errorf("Consume after Close: %v", err)
		}
	})
}

// consumer_group.go:787-791: a static member does not leave; a restart within the session timeout starts no round.
func TestStaticMemberKeepsItsPlaceOverARestart(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		static := func(cfg *sarama.Config) { cfg.Consumer.Group.InstanceId = "pod-1" }
		a := join(t, c, config(static), &recorder{})
		pass(time.Second)
		gen := a.h.current().GenerationID()
		a.stop()
		b := join(t, c, config(static), &recorder{})
		pass(time.Second)
		if s := b.h.current(); s.GenerationID() != gen || len(s.Claims()[topic]) != 1 {
			t.Errorf("generation %d, claims %v; want generation %d and the claim", s.GenerationID(), s.Claims(), gen)
		}
	})
}

// GroupCoordinator.updateStaticMemberAndRebalance: the older process with the same id is fenced.
func TestDuplicateInstanceIDFencesTheOlder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		static := func(cfg *sarama.Config) { cfg.Consumer.Group.InstanceId = "pod-1" }
		causes := make(chan error, 1)
		a := newGroup(t, c, eager(static))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = a.Consume(t.Context(), []string{topic}, &recorder{clean: func(s sarama.ConsumerGroupSession) error {
				causes <- context.Cause(s.Context())
				return nil
			}})
		}()
		pass(time.Second)
		join(t, c, eager(static), &recorder{})
		pass(5 * time.Second)
		<-ended
		if cause := <-causes; !errors.Is(cause, sarama.ErrFencedInstancedId) {
			t.Errorf("cause %v", cause)
		}
	})
}

// consumer_group_session.go:428-438: Metadata.Retry.Max + 1 heartbeats of Net.ReadTimeout each.
func TestACutOffMemberBelievesForItsRetries(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		cfg := config(func(cfg *sarama.Config) { cfg.Net.ReadTimeout = 30 * time.Second })
		a := join(t, c, cfg, &recorder{})
		pass(time.Second)
		a.Cut()
		s := a.h.current()
		pass(121 * time.Second)
		if s.Context().Err() != nil {
			t.Fatal("session ended before the retries were over")
		}
		pass(2 * time.Second)
		if !errors.Is(context.Cause(s.Context()), os.ErrDeadlineExceeded) {
			t.Errorf("cause %v", context.Cause(s.Context()))
		}
		if n := len(c.Members(group)); n != 0 {
			t.Errorf("%d members, want the member expelled after its session timeout", n)
		}
		a.Mend()
	})
}

// connection: JoinGroup is not cancellable; the answer ends it, Net.ReadTimeout, or a connection that is closed.
func TestAPendingJoinIsDeafToItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		hold := make(chan struct{})
		a := join(t, c, eager(), &recorder{claim: func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error { <-hold; return nil }})
		defer a.stop()
		defer close(hold)
		pass(time.Second)
		g := newGroup(t, c, eager(func(cfg *sarama.Config) { cfg.Net.ReadTimeout = 20 * time.Second }))
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 1)
		go func() { errs <- g.Consume(ctx, []string{topic}, &recorder{}) }()
		pass(time.Second)
		cancel()
		pass(15 * time.Second)
		if len(errs) != 0 {
			t.Fatal("the context ended a join")
		}
		pass(5 * time.Second)
		if err := <-errs; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Consume: %v, want an i/o timeout", err)
		}
		go func() { errs <- g.Consume(t.Context(), []string{topic}, &recorder{}) }()
		pass(time.Second)
		g.HangUp()
		synctest.Wait()
		if err := <-errs; !errors.Is(err, os.ErrClosed) {
			t.Errorf("Consume: %v, want a closed connection", err)
		}
	})
}

func TestDelayedJoinHoldsUpTheRound(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		g := newGroup(t, c, eager())
		g.DelayJoin(5 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.Consume(ctx, []string{topic}, &recorder{}) }()
		pass(9 * time.Second)
		if state, gen := c.GroupState(group); state != "Empty" || gen != 0 {
			t.Errorf("group is %s in generation %d after the first of two joins", state, gen)
		}
		pass(2 * time.Second)
		if state, gen := c.GroupState(group); state != "Stable" || gen != 1 {
			t.Errorf("group is %s in generation %d after both joins", state, gen)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Consume: %v", err)
		}
	})
}

// consumer_group_session.go:127: a failed Setup is followed by Cleanup, and Consume returns its error.
func TestFailedSetupIsCleanedUp(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		g := newGroup(t, newCluster(1), config())
		fault := errors.New("not today")
		h := &recorder{setup: func(sarama.ConsumerGroupSession) error { return fault }}
		if err := g.Consume(t.Context(), []string{topic}, h); !errors.Is(err, fault) {
			t.Errorf("Consume: %v", err)
		}
		wantLog(t, h, "setup", "cleanup")
	})
}
