package fakegroup_test

import (
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// ranged has constant metadata: a rejoin repeats itself.
func ranged(change ...func(*sarama.Config)) *sarama.Config {
	return settings(sarama.NewBalanceStrategyRange(), change...)
}

// GroupCoordinator.doCurrentMemberJoinGroup: a follower that repeats itself disturbs nobody, the leader starts a round.
func TestFollowersRejoinDisturbsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		leader := join(t, c, ranged(), &recorder{})
		pass(time.Second)
		follower := join(t, c, ranged(), &recorder{})
		pass(20 * time.Second)
		failAnyClaim(t, follower)
		pass(20 * time.Second)
		wantGeneration(t, leader, 2)
		wantGeneration(t, follower, 2)
		failAnyClaim(t, leader)
		pass(20 * time.Second)
		wantGeneration(t, leader, 3)
		wantGeneration(t, follower, 3)
	})
}

func failAnyClaim(t *testing.T, m *member) {
	t.Helper()
	if !m.FailClaim(topic, m.h.current().Claims()[topic][0], sarama.ErrOffsetOutOfRange) {
		t.Error("nothing is claimed")
	}
}

func wantGeneration(t *testing.T, m *member, want int32) {
	t.Helper()
	if got := m.h.current().GenerationID(); got != want {
		t.Errorf("%s is in generation %d, want %d", m.MemberID(), got, want)
	}
}

// JoinGroup below v9: a static leader that restarts is told the old leader's id, so nobody watches the partitions until the next round.
func TestRestartedStaticLeaderDoesNotLead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		static := func(cfg *sarama.Config) {
			cfg.Consumer.Group.InstanceId = "pod-1"
			cfg.Metadata.RefreshFrequency = time.Minute
		}
		a := join(t, c, ranged(static), &recorder{})
		pass(time.Second)
		a.stop()
		b := join(t, c, ranged(static), &recorder{})
		pass(time.Second)
		c.AddPartitions(topic, 2)
		pass(3 * time.Minute)
		if n := len(b.h.current().Claims()[topic]); n != 1 {
			t.Errorf("%d claims: somebody watched the partitions", n)
		}
		c.Rebalance(group)
		pass(10 * time.Second)
		if n := len(b.h.current().Claims()[topic]); n != 2 {
			t.Errorf("%d claims after the next round, want 2", n)
		}
	})
}

// KIP-394: a round waits for a member that has been given an id.
func TestRoundWaitsForAPromisedMember(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		a := join(t, c, eager(), &recorder{})
		pass(time.Second)
		g := newGroup(t, c, eager())
		g.DelayJoin(10 * time.Second)
		run(t, g, &recorder{})
		pass(12 * time.Second) // its id is promised, its join is under way
		c.Rebalance(group)
		pass(5 * time.Second)
		if state, _ := c.GroupState(group); state != "PreparingRebalance" {
			t.Errorf("group is %s, want the round to wait", state)
		}
		pass(10 * time.Second)
		wantGeneration(t, a, 2)
	})
}

// A promised id that is not used is forgotten after the session timeout.
func TestRoundForgetsAPromisedMember(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		a := join(t, c, eager(), &recorder{})
		pass(time.Second)
		g := newGroup(t, c, eager(func(cfg *sarama.Config) { cfg.Consumer.Group.Session.Timeout = 20 * time.Second }))
		g.DelayJoin(10 * time.Second)
		b := run(t, g, &recorder{})
		pass(12 * time.Second)
		b.Kill()
		c.Rebalance(group)
		pass(5 * time.Second)
		wantGeneration(t, a, 1)
		pass(30 * time.Second)
		wantGeneration(t, a, 2)
	})
}

// offset_manager.go:447-449: what has been committed is not sent again.
func TestACleanMarkIsNotSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		a := join(t, c, eager(), &recorder{})
		pass(time.Second)
		s := a.h.current()
		s.MarkOffset(topic, 0, 5, "")
		s.Commit()
		wantAnswer(t, "commit", c.Commit(group, a.MemberID(), s.GenerationID(), fakegroup.Offset{Topic: topic, Offset: 2}), sarama.ErrNoError)
		pass(5 * time.Second)
		wantCommitted(t, c, 0, 2)
	})
}

// A member whose heartbeats arrive keeps its place however long it runs, in real time too.
func TestRealTime(t *testing.T) {
	c := fakegroup.NewClusterWith(fakegroup.Settings{MinSessionTimeout: time.Millisecond})
	c.CreateTopic(topic, 2)
	c.Produce(topic, 0, nil, nil)
	handled := make(chan int64, 1)
	h := &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
		for m := range cl.Messages() {
			s.MarkMessage(m, "")
			s.Commit()
			handled <- m.Offset
		}
		return nil
	}}
	a := join(t, c, cooperative(func(cfg *sarama.Config) {
		cfg.Consumer.Group.Heartbeat.Interval = 10 * time.Millisecond
		cfg.Consumer.Group.Session.Timeout = 10 * time.Second
		cfg.Consumer.MaxWaitTime = 10 * time.Millisecond
	}), h)
	<-handled
	wantCommitted(t, c, 0, 1)
	a.stop()
	if !slices.Contains(h.log(), "cleanup") {
		t.Errorf("events %q", h.log())
	}
}
