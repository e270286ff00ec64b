package fakegroup_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// scripted is a cooperative strategy with parts that a test replaces.
type scripted struct {
	*spy
	before func(members map[string]sarama.ConsumerGroupMemberMetadata) // called by Plan
	data   func() ([]byte, error)
	none   bool // plan nothing for anybody
}

func (s *scripted) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	if s.before != nil {
		s.before(members)
	}
	if s.none {
		return nil, nil
	}
	return s.spy.Plan(members, topics)
}

func (s *scripted) SubscriptionUserData(topics []string) ([]byte, error) {
	if s.data != nil {
		return s.data()
	}
	return s.spy.SubscriptionUserData(topics)
}

// consumer_group.go:640-665.
func TestUserDataOfTheStrategyReachesThePlan(t *testing.T) {
	for fault, want := range map[error]string{nil: "fresh", errors.New("no data"): "fixed"} {
		inBubble(t, func(t *testing.T) {
			got := make(chan string, 1)
			s := &scripted{spy: newSpy(&recorder{}), data: func() ([]byte, error) { return []byte("fresh"), fault }, none: true}
			s.before = func(members map[string]sarama.ConsumerGroupMemberMetadata) {
				for _, m := range members {
					got <- string(m.UserData)
				}
			}
			join(t, newCluster(1), settings(s, func(cfg *sarama.Config) { cfg.Consumer.Group.Member.UserData = []byte("fixed") }), &recorder{})
			if data := <-got; data != want {
				t.Errorf("the plan saw %q, want %q", data, want)
			}
			pass(time.Second)
		})
	}
}

// consumer_group.go:730-736: a member that the plan leaves out gets an empty assignment, and hears it.
func TestMembersLeftOutGetAnEmptyAssignment(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := &recorder{}
		join(t, newCluster(1), settings(&scripted{spy: newSpy(h), none: true}), h)
		pass(time.Second)
		if !slices.Contains(h.log(), "assigned []") {
			t.Errorf("events %q", h.log())
		}
	})
}

// Kafka's answers while the leader plans, measured on 4.4.0 for commits and heartbeats over a connection of one's own.
func TestCoordinatorAnswersWhileTheLeaderPlans(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		h := &recorder{}
		s := &scripted{spy: newSpy(h)}
		a := join(t, c, settings(s), h)
		pass(time.Second)
		s.before = func(map[string]sarama.ConsumerGroupMemberMetadata) { time.Sleep(5 * time.Second) }
		c.Rebalance(group)
		pass(5 * time.Second)
		id, old := a.MemberID(), int32(1)
		wantAnswer(t, "commit, old generation", c.Commit(group, id, old, fakegroup.Offset{Topic: topic}), sarama.ErrIllegalGeneration)
		wantAnswer(t, "commit, new generation", c.Commit(group, id, old+1, fakegroup.Offset{Topic: topic}), sarama.ErrRebalanceInProgress)
		wantAnswer(t, "heartbeat, old generation", c.Heartbeat(group, id, old), sarama.ErrIllegalGeneration)
		wantAnswer(t, "heartbeat, new generation", c.Heartbeat(group, id, old+1), sarama.ErrNoError)
		if state, gen := c.GroupState(group); state != "CompletingRebalance" || gen != 2 {
			t.Errorf("group is %s in generation %d", state, gen)
		}
	})
}

// consumer_group.go:483-490: after a failed sync the rejoin reports the generation that was joined.
func TestRejoinAfterAFailedSyncReportsTheJoinedGeneration(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		h := &recorder{}
		s := &scripted{spy: newSpy(h)}
		join(t, c, settings(s), h)
		pass(time.Second)
		s.before = func(members map[string]sarama.ConsumerGroupMemberMetadata) {
			for _, m := range members {
				h.note("plans with generation %d", m.GenerationID)
			}
			time.Sleep(5 * time.Second)
		}
		c.Rebalance(group)
		pass(5 * time.Second)
		c.Rebalance(group) // the sync of the first round is refused
		pass(20 * time.Second)
		want := []string{"plans with generation 1", "plans with generation 2"}
		got := slices.DeleteFunc(h.log(), func(e string) bool { return !slices.Contains(want, e) })
		if !slices.Equal(got, want) {
			t.Errorf("events %q, want %q", h.log(), want)
		}
	})
}

// rebalance_protocol.go:77-83.
func TestStrategiesWithoutACommonProtocolAreRefused(t *testing.T) {
	cooperativeOnly := &only{newSpy(&recorder{})}
	for _, list := range [][]sarama.BalanceStrategy{nil, {cooperativeOnly, sarama.NewBalanceStrategyRange()}} {
		cfg := eager()
		cfg.Consumer.Group.Rebalance.GroupStrategies = list
		_, err := fakegroup.NewGroup(newCluster(1), group, cfg)
		if _, ok := errors.AsType[sarama.ConfigurationError](err); !ok {
			t.Errorf("NewGroup with %d strategies: %v, want a configuration error", len(list), err)
		}
	}
}

type only struct{ *spy }

func (*only) SupportedProtocols() []sarama.RebalanceProtocol {
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolCooperative}
}

// consumer_group_cooperative.go:60-66: a join covers the rebalance that was signalled while the member was busy with the last one.
func TestOneJoinCoversASignalThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		h := &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
			}
			if s.Context().Err() == nil {
				time.Sleep(10 * time.Second)
			}
			return nil
		}}
		join(t, c, settings(newSpy(h)), h)
		pass(time.Second)
		join(t, c, cooperative(), &recorder{})
		pass(5 * time.Second) // the revoked claim overstays
		join(t, c, cooperative(), &recorder{})
		pass(30 * time.Second)
		joins := len(slices.DeleteFunc(h.log(), func(e string) bool { return e != "user data" }))
		if want := 2 + 1 + 1; joins != want { // a first join, with its id; the newcomer; the follow-up, which is the third member's round too
			t.Errorf("%d joins, want %d: %q", joins, want, h.log())
		}
	})
}

// consumer_group.go:397-403: a member that holds claims and has lost its id gives them up with the error.
func TestCooperativeRejoinUnderALostIDEndsConsume(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		a := join(t, c, cooperative(), &recorder{})
		pass(time.Second)
		a.DelayJoin(time.Second)
		c.Rebalance(group)
		pass(2500 * time.Millisecond)
		c.Expel(group, a.MemberID())
		pass(time.Second)
		if want := fmt.Sprintf("consume: %v", sarama.ErrUnknownMemberId); !slices.Contains(a.h.log(), want) {
			t.Errorf("events %q lack %q", a.h.log(), want)
		}
	})
}
