package fakegroup_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

func inBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// consumer_group_session.go:385-388, consumer_group_cooperative.go:158-161.
func TestEagerRebalanceCancelsTheSessionWithItsCause(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		var cause error
		h := &recorder{clean: func(s sarama.ConsumerGroupSession) error { cause = context.Cause(s.Context()); return nil }}
		a := join(t, c, eager(), h)
		pass(time.Second)
		b := join(t, c, eager(), &recorder{})
		pass(10 * time.Second)
		if !errors.Is(cause, sarama.ErrRebalanceInProgress) {
			t.Errorf("cause %v, want %v", cause, sarama.ErrRebalanceInProgress)
		}
		for _, m := range []*member{a, b} {
			if n := len(m.h.current().Claims()[topic]); n != 1 {
				t.Errorf("%s holds %d claims, want 1", m.MemberID(), n)
			}
		}
		if !slices.Contains(h.log(), "consume: <nil>") {
			t.Errorf("Consume of the old session did not return nil: %q", h.log())
		}
	})
}

// consumer_group_session.go:326-332; what is buffered stays readable (measured, experiment 6 of the sarama notes).
func TestEagerBufferIsDeliveredAfterTheCancel(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		for range 10 {
			c.Produce(topic, 0, nil, nil)
		}
		var late int
		h := &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			<-s.Context().Done()
			time.Sleep(time.Second)
			for range cl.Messages() {
				late++
			}
			return nil
		}}
		a := join(t, c, eager(func(cfg *sarama.Config) { cfg.ChannelBufferSize = 4 }), h)
		pass(time.Second)
		a.stop()
		if late != 4 {
			t.Errorf("%d messages after the cancel, want the 4 of the buffer", late)
		}
	})
}

// consumer.go: an idle long poll has to end before Messages closes.
func TestMessagesCloseAtMostAPollAfterTheCancel(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		var took time.Duration
		h := &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			<-s.Context().Done()
			began := time.Now()
			<-cl.Messages()
			took = time.Since(began)
			return nil
		}}
		a := join(t, c, eager(), h)
		pass(100*time.Millisecond + 250*time.Millisecond)
		a.stop()
		if took != 150*time.Millisecond {
			t.Errorf("Messages closed after %v, want the 150ms that were left of the poll", took)
		}
	})
}

// consumer_group_session.go:366: heartbeats go on while ConsumeClaim overstays; the broker removes the member at the end of the round.
func TestEagerMemberThatOverstaysTheRebalanceTimeoutIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		release := make(chan struct{})
		a := join(t, c, eager(), &recorder{claim: func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error { <-release; return nil }})
		pass(time.Second)
		first := a.MemberID()
		b := join(t, c, eager(), &recorder{})
		pass(59 * time.Second)
		if n := len(c.Members(group)); n != 2 {
			t.Fatalf("%d members before the rebalance timeout, want 2", n)
		}
		pass(5 * time.Second)
		if got := c.Members(group); !slices.Equal(got, []string{b.MemberID()}) {
			t.Errorf("members %v after the rebalance timeout, want %s alone", got, b.MemberID())
		}
		if n := len(b.h.current().Claims()[topic]); n != 2 {
			t.Errorf("newcomer holds %d claims, want 2", n)
		}
		close(release)
		pass(10 * time.Second)
		if a.MemberID() == first {
			t.Errorf("the member came back under its lost id %s", first)
		}
	})
}

// consumer_group_session.go:463-465.
func TestExpelledMemberLosesItsSessionAtTheNextHeartbeat(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		for _, want := range []sarama.KError{sarama.ErrUnknownMemberId, sarama.ErrIllegalGeneration} {
			c := newCluster(1)
			var cause error
			h := &recorder{}
			h.clean = func(s sarama.ConsumerGroupSession) error { cause = context.Cause(s.Context()); return nil }
			a := join(t, c, config(), h)
			pass(time.Second)
			old := a.MemberID()
			if want == sarama.ErrUnknownMemberId {
				c.Expel(group, old)
			} else {
				c.AnswerHeartbeat(group, old, want)
			}
			pass(3500 * time.Millisecond)
			if !errors.Is(cause, want) {
				t.Errorf("cause %v, want %v", cause, want)
			}
			a.stop()
		}
	})
}

// consumer_group_session.go:229-233, 346-375.
func TestLateMarksAfterReleaseAreSilent(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		a := join(t, c, config(), &recorder{})
		pass(time.Second)
		s := a.h.current()
		s.MarkOffset(topic, 0, 7, "in time")
		a.stop()
		s.MarkOffset(topic, 0, 9, "late")
		s.Commit()
		if o, meta := c.Committed(group, topic, 0); o != 7 || meta != "in time" {
			t.Errorf("committed %d %q, want the mark made before the release", o, meta)
		}
		select {
		case err := <-a.Errors():
			if err != nil {
				t.Errorf("late mark reported %v", err)
			}
		default:
		}
	})
}
