package fakegroup_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// hour keeps the timed commit out of a test's way.
func hour(cfg *sarama.Config) { cfg.Consumer.Offsets.AutoCommit.Interval = time.Hour }

func wantStored(t *testing.T, s sarama.ConsumerGroupSession, committed func() (int64, string), offset int64, metadata string) {
	t.Helper()
	s.Commit()
	if o, m := committed(); o != offset || m != metadata {
		t.Errorf("committed %d %q, want %d %q", o, m, offset, metadata)
	}
}

// offset_manager.go:700-720.
func TestMarkOnlyRaisesAndResetOnlyLowers(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		a := join(t, c, config(hour), &recorder{})
		pass(time.Second)
		s := a.h.current()
		committed := func() (int64, string) { return c.Committed(group, topic, 0) }
		wantStored(t, s, committed, -1, "")
		s.MarkOffset(topic, 0, 5, "a")
		wantStored(t, s, committed, 5, "a")
		s.MarkOffset(topic, 0, 5, "same offset")
		s.MarkOffset(topic, 0, 4, "lower")
		s.ResetOffset(topic, 0, 6, "higher")
		wantStored(t, s, committed, 5, "a")
		s.ResetOffset(topic, 0, 5, "progress")
		wantStored(t, s, committed, 5, "progress")
		s.ResetOffset(topic, 0, 2, "back")
		wantStored(t, s, committed, 2, "back")
	})
}

// offset_manager.go:83-86: marks are committed at the interval, and only with AutoCommit.Enable at the end.
func TestAutoCommitOffThrowsMarksAway(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		a := join(t, c, config(func(cfg *sarama.Config) { cfg.Consumer.Offsets.AutoCommit.Enable = false }), &recorder{})
		pass(time.Second)
		a.h.current().MarkOffset(topic, 0, 5, "")
		pass(5 * time.Second)
		a.stop()
		wantCommitted(t, c, 0, -1)
	})
}

// offset_manager.go:126-140, consumer_group.go:848-855: four tries, reported, and Consume returns nil all the same.
func TestAFailedFinalCommitIsOnErrorsOnly(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		a := join(t, c, config(hour, func(cfg *sarama.Config) { cfg.ChannelBufferSize = 10 }), &recorder{})
		pass(time.Second)
		a.h.current().MarkOffset(topic, 0, 5, "")
		c.FailCommits(group, topic, 0, sarama.ErrGroupAuthorizationFailed, -1)
		a.cancel()
		<-a.done
		if n := len(a.Errors()); n != 4 {
			t.Errorf("%d errors, want one a try: 4", n)
		}
		wantConsumerError(t, a, sarama.ErrGroupAuthorizationFailed)
		wantLog(t, a.h, "setup", "claim 0", "return 0", "cleanup", "consume: <nil>")
		wantCommitted(t, c, 0, -1)
	})
}

// A commit that fails once is sent again by the timer.
func TestAFailedCommitIsSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		a := join(t, c, eager(), &recorder{})
		pass(500 * time.Millisecond)
		c.FailCommits(group, topic, 0, sarama.ErrConsumerCoordinatorNotAvailable, 1)
		s := a.h.current()
		s.MarkOffset(topic, 0, 5, "")
		s.Commit()
		wantCommitted(t, c, 0, -1)
		pass(time.Second)
		wantCommitted(t, c, 0, 5)
	})
}

// offset.metadata.max.bytes, and section 4 of the sarama notes: the mark stays dirty, the error comes at every tick.
func TestOversizedMetadataIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		a := join(t, c, eager(), &recorder{})
		pass(time.Second)
		a.h.current().MarkOffset(topic, 0, 5, string(make([]byte, 4097)))
		pass(time.Second)
		wantConsumerError(t, a, sarama.ErrOffsetMetadataTooLarge)
		wantCommitted(t, c, 0, -1)
	})
}

// Kafka 4.4.0's answers by group state, as measured for commits and heartbeats over a connection of one's own.
func TestCoordinatorAnswersByState(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		a := join(t, c, eager(), &recorder{})
		pass(time.Second)
		id, gen := a.MemberID(), a.h.current().GenerationID()
		commit := func(id string, gen int32) sarama.KError {
			return c.Commit(group, id, gen, fakegroup.Offset{Topic: topic, Offset: 1})
		}
		wantAnswer(t, "commit, stable", commit(id, gen), sarama.ErrNoError)
		wantAnswer(t, "commit, older generation", commit(id, gen-1), sarama.ErrIllegalGeneration)
		wantAnswer(t, "commit, unknown member", commit("x", gen), sarama.ErrUnknownMemberId)
		wantAnswer(t, "commit, no member in a live group", commit("", -1), sarama.ErrUnknownMemberId)
		wantAnswer(t, "heartbeat, stable", c.Heartbeat(group, id, gen), sarama.ErrNoError)
		c.Rebalance(group)
		wantAnswer(t, "commit, preparing", commit(id, gen), sarama.ErrNoError)
		wantAnswer(t, "heartbeat, preparing", c.Heartbeat(group, id, gen), sarama.ErrRebalanceInProgress)
		wantAnswer(t, "no such partition", c.Commit(group, id, gen, fakegroup.Offset{Topic: topic, Partition: 7}), sarama.ErrUnknownTopicOrPartition)
	})
}

func wantAnswer(t *testing.T, what string, got, want sarama.KError) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// offset_manager.go:472-475: fencing ends the session.
func TestFencedCommitEndsTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		causes := make(chan error, 10)
		a := join(t, c, eager(), &recorder{clean: func(s sarama.ConsumerGroupSession) error {
			causes <- context.Cause(s.Context())
			return nil
		}})
		pass(time.Second)
		c.FailCommits(group, topic, 0, sarama.ErrFencedInstancedId, 1)
		a.h.current().MarkOffset(topic, 0, 1, "")
		pass(2 * time.Second)
		if cause := <-causes; !errors.Is(cause, sarama.ErrFencedInstancedId) {
			t.Errorf("cause %v", cause)
		}
	})
}
