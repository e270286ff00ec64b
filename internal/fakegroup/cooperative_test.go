package fakegroup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// stamp is a moment noted by one goroutine and read by another.
type stamp struct{ nanos atomic.Int64 }

func (s *stamp) now()                 { s.nanos.Store(time.Now().UnixNano()) }
func (s *stamp) set() bool            { return s.nanos.Load() != 0 }
func (s *stamp) before(o *stamp) bool { return s.nanos.Load() < o.nanos.Load() }

// spy is a strategy that notes when sarama calls it.
type spy struct {
	sarama.BalanceStrategy
	note func(format string, args ...any)

	mu    sync.Mutex
	owned map[string][]*sarama.OwnedPartition
	gens  []int32
}

func newSpy(h *recorder) *spy {
	return &spy{BalanceStrategy: sarama.NewBalanceStrategyCooperativeSticky(), note: h.note}
}

func (s *spy) SupportedProtocols() []sarama.RebalanceProtocol {
	return s.BalanceStrategy.(sarama.RebalanceProtocolBalanceStrategy).SupportedProtocols()
}

func (s *spy) SubscriptionUserData(topics []string) ([]byte, error) {
	s.note("user data")
	return s.BalanceStrategy.(sarama.SubscriptionUserDataBalanceStrategy).SubscriptionUserData(topics)
}

func (s *spy) OnAssignment(a *sarama.ConsumerGroupMemberAssignment, generation int32) {
	s.note("assigned %v", slices.Sorted(slices.Values(a.Topics[topic])))
	s.mu.Lock()
	s.gens = append(s.gens, generation)
	s.mu.Unlock()
	s.BalanceStrategy.(sarama.OnAssignmentBalanceStrategy).OnAssignment(a, generation)
}

func (s *spy) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	s.mu.Lock()
	s.owned = make(map[string][]*sarama.OwnedPartition)
	for id, m := range members {
		s.owned[id] = m.OwnedPartitions
	}
	s.mu.Unlock()
	return s.BalanceStrategy.Plan(members, topics)
}

// consumer_group_cooperative.go:89-114.
func TestCooperativeRevocationIsToldByMessagesAlone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		h := &recorder{}
		h.claim = func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
			}
			h.note("closed %d, session %v, claims %v, generation %d", cl.Partition(), s.Context().Err(), s.Claims()[topic], s.GenerationID())
			return nil
		}
		a := join(t, c, settings(newSpy(h)), h)
		pass(time.Second)
		b := join(t, c, cooperative(), &recorder{})
		pass(20 * time.Second)
		kept, moved := a.h.current().Claims()[topic], b.h.current().Claims()[topic]
		if len(kept) != 1 || len(moved) != 1 || kept[0] == moved[0] {
			t.Fatalf("the members hold %v and %v, want one each", kept, moved)
		}
		want := []string{
			"user data", "user data", "assigned [0 1]", "setup", // the id is asked for with a first join (KIP-394)
			"user data", fmt.Sprint("assigned ", kept),
			fmt.Sprintf("closed %d, session <nil>, claims [0 1], generation 2", moved[0]), fmt.Sprintf("return %d", moved[0]),
			"user data", fmt.Sprint("assigned ", kept),
		}
		if got := withoutStarts(h.log()); !slices.Equal(got, want) {
			t.Errorf("events\n got %q\nwant %q", got, want)
		}
	})
}

// withoutStarts drops the starts of claims, which come in any order.
func withoutStarts(events []string) []string {
	return slices.DeleteFunc(events, func(e string) bool { return e == "claim 0" || e == "claim 1" })
}

// consumer_group.go:584-594: a rejoin reports what is owned, with the generation it is owned in.
func TestCooperativeRejoinReportsOwnedPartitions(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(4)
		h := &recorder{}
		s := newSpy(h)
		a := join(t, c, settings(s), h)
		pass(time.Second)
		join(t, c, cooperative(), &recorder{}) // the plan that counts is the second: the follow-up join
		pass(10 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if got := fmt.Sprint(s.owned[a.MemberID()][0].Partitions); got != fmt.Sprint(a.h.current().Claims()[topic]) {
			t.Errorf("owned partitions in the plan: %s", got)
		}
		if len(s.gens) < 2 || !slices.IsSorted(s.gens) {
			t.Errorf("generations heard by OnAssignment: %v", s.gens)
		}
	})
}

// consumer_group_cooperative.go:94-111: added claims wait for the slowest revoked one.
func TestCooperativeAddedClaimsStartAfterTheRevokedReturned(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		var returned, started stamp
		slow := &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
			}
			if s.Context().Err() == nil {
				time.Sleep(20 * time.Second)
				returned.now()
			}
			return nil
		}}
		join(t, c, cooperative(), slow)
		pass(time.Second)
		join(t, c, cooperative(), &recorder{claim: func(_ sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			started.now()
			for range cl.Messages() {
			}
			return nil
		}})
		pass(15 * time.Second)
		if started.set() {
			t.Fatal("the newcomer's claim started while the revoked one ran")
		}
		pass(30 * time.Second)
		if !started.set() || started.before(&returned) {
			t.Error("the added claim did not wait for the revoked one")
		}
	})
}

// consumer_group_cooperative.go:130-141.
func TestCooperativeOverstayEndsTheWholeSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		release := make(chan struct{})
		var cause error
		h := &recorder{clean: func(s sarama.ConsumerGroupSession) error { cause = context.Cause(s.Context()); return nil }}
		h.claim = func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error { <-release; return nil }
		a := join(t, c, cooperative(), h)
		pass(time.Second)
		join(t, c, cooperative(), &recorder{})
		pass(62 * time.Second)
		if s := a.h.current(); !errors.Is(context.Cause(s.Context()), sarama.ErrRebalanceTimedOut) {
			t.Errorf("session ended with %v, want %v", context.Cause(s.Context()), sarama.ErrRebalanceTimedOut)
		}
		close(release)
		pass(time.Second)
		if !errors.Is(cause, sarama.ErrRebalanceTimedOut) || !slices.Contains(h.log(), fmt.Sprintf("consume: %v", sarama.ErrRebalanceTimedOut)) {
			t.Errorf("cause %v, events %q", cause, h.log())
		}
	})
}

// offset_manager.go:522-553: the marks of a revoked partition are committed under the new generation before it moves.
func TestCooperativeRevokedMarksAreCommittedAtRelease(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		h := &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
			}
			s.MarkOffset(topic, cl.Partition(), 5, "moved")
			return nil
		}}
		a := join(t, c, cooperative(func(cfg *sarama.Config) { cfg.Consumer.Offsets.AutoCommit.Interval = time.Hour }), h)
		pass(time.Second)
		join(t, c, cooperative(), &recorder{claim: func(_ sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			if cl.InitialOffset() != 5 {
				t.Errorf("moved claim starts at %d, want 5", cl.InitialOffset())
			}
			for range cl.Messages() {
			}
			return nil
		}})
		c.Gap(topic, 0, 5)
		c.Gap(topic, 1, 5)
		pass(10 * time.Second)
		for p := range int32(2) {
			want := int64(5)
			if slices.Contains(a.h.current().Claims()[topic], p) {
				want = -1
			}
			wantCommitted(t, c, p, want)
		}
	})
}

// offset_manager.go:278-289, 307: Commit waits for a join that is under way.
func TestCooperativeCommitWaitsForTheJoin(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(1)
		a := join(t, c, cooperative(), &recorder{})
		pass(time.Second)
		a.DelayJoin(2 * time.Second)
		c.Rebalance(group)
		pass(3 * time.Second)
		began := time.Now()
		s := a.h.current()
		s.MarkOffset(topic, 0, 3, "")
		s.Commit()
		if took := time.Since(began); took != time.Second {
			t.Errorf("Commit took %v during a join of 2s that was half over", took)
		}
		wantCommitted(t, c, 0, 3)
	})
}

// consumer_group_cooperative.go:133-141: neither Close nor the end of the context cuts the wait for revoked claims short.
func TestCooperativeStopWaitsForTheRevoked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newCluster(2)
		a := join(t, c, cooperative(hour), &recorder{claim: func(s sarama.ConsumerGroupSession, cl sarama.ConsumerGroupClaim) error {
			for range cl.Messages() {
			}
			if s.Context().Err() == nil {
				time.Sleep(10 * time.Second)
				s.MarkOffset(topic, cl.Partition(), 5, "")
			}
			return nil
		}})
		pass(time.Second)
		join(t, c, cooperative(), &recorder{})
		pass(5 * time.Second)
		a.stop()
		first, _ := c.Committed(group, topic, 0)
		second, _ := c.Committed(group, topic, 1)
		if max(first, second) != 5 {
			t.Errorf("committed %d and %d, want the revoked claim's mark", first, second)
		}
	})
}
