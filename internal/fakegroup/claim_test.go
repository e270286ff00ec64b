package fakegroup_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// consumer_group_session.go:199-203: one ConsumeClaim that returns ends the session for all, and Consume returns nil.
func TestReturningFromOneClaimEndsTheSession(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(2)
		fault := errors.New("no more")
		causes := make(chan error, 10)
		h := &recorder{clean: func(s sarama.ConsumerGroupSession) error { causes <- context.Cause(s.Context()); return nil }}
		h.claim = func(_ sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
				return fault
			}
			return nil
		}
		a := join(t, c, config(), h)
		c.Produce(topic, 1, nil, nil)
		pass(400 * time.Millisecond) // the claim is drained first: one poll
		a.cancel()
		pass(time.Second)
		if cause := <-causes; !errors.Is(cause, sarama.ErrSessionConsumeClaimExited) {
			t.Errorf("cause %v, want %v", cause, sarama.ErrSessionConsumeClaimExited)
		}
		if !slices.Contains(h.log(), "return 0") || !slices.Contains(h.log(), "consume: <nil>") {
			t.Errorf("events %q", h.log())
		}
		if err := <-a.Errors(); !errors.Is(err, fault) {
			t.Errorf("Errors: %v, want the claim's error", err)
		}
	})
}

// consumer.go:1268-1275: the only sign is Messages closing; the session lives until ConsumeClaim returns.
func TestOutOfRangeClosesMessagesWithALiveSession(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		c.Produce(topic, 0, nil, nil)
		closed := make(chan error, 10)
		h := &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
			}
			closed <- s.Context().Err()
			<-s.Context().Done()
			return nil
		}}
		a := join(t, c, config(), h)
		pass(time.Second)
		c.Gap(topic, 0, 10)
		c.Trim(topic, 0, 5)
		pass(10 * time.Second)
		select {
		case err := <-closed:
			if err != nil {
				t.Errorf("session ended with the claim: %v", err)
			}
		default:
			t.Fatal("Messages is open")
		}
		wantConsumerError(t, a, sarama.ErrOffsetOutOfRange)
	})
}

func wantConsumerError(t *testing.T, m *member, want error) {
	t.Helper()
	var ce *sarama.ConsumerError
	if err := <-m.Errors(); !errors.Is(err, want) || !errors.As(err, &ce) || ce.Topic != topic {
		t.Errorf("Errors: %v, want %v of %s", err, want, topic)
	}
}

// The same by a switch.
func TestFailClaimClosesMessagesWithALiveSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		h := &recorder{}
		h.claim = func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
			}
			h.note("closed, session %v", s.Context().Err())
			<-s.Context().Done()
			return nil
		}
		a := join(t, c, cooperative(), h)
		pass(time.Second)
		if !a.FailClaim(topic, 0, sarama.ErrOffsetOutOfRange) || a.FailClaim(topic, 1, sarama.ErrOffsetOutOfRange) {
			t.Error("FailClaim answers wrongly whether the partition is claimed")
		}
		pass(time.Second)
		wantLog(t, h, "setup", "claim 0", "closed, session <nil>")
		wantConsumerError(t, a, sarama.ErrOffsetOutOfRange)
	})
}

// consumer_group_session.go:564-567.
func TestResetInvalidOffsetsDecidesAboutALostStart(t *testing.T) {
	for _, reset := range []bool{true, false} {
		inBubble(t, func(t *testing.T) {
			c := newCluster(1)
			c.Produce(topic, 0, nil, nil)
			c.Gap(topic, 0, 9)
			c.Trim(topic, 0, 10)
			c.Produce(topic, 0, nil, nil)
			if err := c.Commit(group, "", -1, fakegroup.Offset{Topic: topic, Offset: 1}); err != sarama.ErrNoError {
				t.Fatal(err)
			}
			first := make(chan int64, 10)
			h := &recorder{claim: func(_ sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
				for m := range cl.Messages() {
					first <- m.Offset
				}
				return nil
			}}
			a := join(t, c, eager(func(cfg *sarama.Config) { cfg.Consumer.Group.ResetInvalidOffsets = reset }), h)
			pass(10 * time.Millisecond)
			if !reset {
				a.cancel()
				wantConsumerError(t, a, sarama.ErrOffsetOutOfRange)
				return
			}
			if got := <-first; got != 10 {
				t.Errorf("starts at %d, want the oldest, 10", got)
			}
		})
	}
}

// consumer_group_session.go:310-313: marks made in Setup move the start; without a commit the initial offset is not resolved.
func TestInitialOffsetIsReadAfterSetup(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		for range 5 {
			c.Produce(topic, 0, nil, nil)
		}
		h := &recorder{setup: func(s sarama.ConsumerGroupSession) error { s.MarkOffset(topic, 0, 3, ""); return nil }}
		h.claim = func(_ sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			h.note("%d starts at %d, high watermark %d", cl.Partition(), cl.InitialOffset(), cl.HighWaterMarkOffset())
			for range cl.Messages() {
			}
			return nil
		}
		join(t, c, eager(), h)
		pass(time.Second)
		for _, want := range []string{"0 starts at 3, high watermark 5", "1 starts at -2, high watermark 0"} {
			if !slices.Contains(h.log(), want) {
				t.Errorf("events %q lack %q", h.log(), want)
			}
		}
	})
}

// consumer.go: a pause stops later fetches; the batch already fetched keeps flowing.
func TestPauseWithholdsWhatIsNotFetched(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := fakegroup.NewClusterWith(fakegroup.Settings{MaxFetchRecords: 3})
		c.CreateTopic(topic, 1)
		for range 10 {
			c.Produce(topic, 0, nil, nil)
		}
		got := make(chan int64, 10)
		claims := make(chan sarama.PartitionConsumer, 1)
		join(t, c, eager(func(cfg *sarama.Config) { cfg.ChannelBufferSize = 0 }), &recorder{claim: func(_ sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			pc := cl.(sarama.PartitionConsumer)
			pc.Pause()
			claims <- pc
			for m := range cl.Messages() {
				got <- m.Offset
			}
			return nil
		}})
		pass(time.Minute)
		pc := <-claims
		if n := len(got); n != 0 && n != 3 || !pc.IsPaused() {
			t.Errorf("%d messages while paused, want at most the batch of 3; paused %v", n, pc.IsPaused())
		}
		pc.Resume()
		pass(time.Second)
		if n := len(got); n != 10 || pc.IsPaused() {
			t.Errorf("%d messages after Resume, want 10; paused %v", n, pc.IsPaused())
		}
	})
}

// consumer.go:242: a pause of the group survives sessions until Resume.
func TestGroupPauseSurvivesSessions(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		g := newGroup(t, c, eager())
		g.Pause(map[string][]int32{topic: {0}}) // nothing is claimed yet: a silent no-op
		a := run(t, g, &recorder{})
		pass(time.Second)
		c.Produce(topic, 0, nil, nil)
		pass(2 * time.Second)
		wantCommitted(t, c, 0, 1)
		a.Pause(map[string][]int32{topic: {0}})
		c.Rebalance(group)
		pass(10 * time.Second)
		c.Produce(topic, 0, nil, nil)
		pass(10 * time.Second)
		wantCommitted(t, c, 0, 1)
		a.Resume(map[string][]int32{topic: {0}})
		pass(2 * time.Second)
		wantCommitted(t, c, 0, 2)
	})
}

func TestGapsAreNotDelivered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		c.Produce(topic, 0, nil, nil)
		c.Gap(topic, 0, 3)
		c.Produce(topic, 0, []byte("k"), []byte("v"))
		h := &recorder{}
		h.claim = func(_ sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for m := range cl.Messages() {
				h.note("%d %s %s", m.Offset, m.Key, m.Value)
			}
			return nil
		}
		join(t, c, eager(), h)
		pass(time.Second)
		wantLog(t, h, "setup", "claim 0", "0  ", "4 k v")
	})
}
