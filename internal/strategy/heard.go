// Package strategy wraps balance strategies, so that a member hears what it is assigned.
package strategy

import (
	"slices"

	"github.com/IBM/sarama"
)

// Assignment is what a member was given, by topic.
type Assignment map[string][]int32

// assignmentOf copies what sarama has decoded: it sorts the partitions in place after it has called OnAssignment
// (consumer_group.go:527), and hands the same map to the session.
func assignmentOf(topics map[string][]int32) Assignment {
	a := make(Assignment, len(topics))
	for topic, partitions := range topics {
		a[topic] = slices.Clone(partitions)
	}
	return a
}

// Listener is told each assignment as soon as the member has received it: before sarama revokes anything and before a new
// session's Setup. The assignment is the listener's own, never nil. It is called on sarama's rebalance path and must not block.
type Listener func(a Assignment, generation int32)

// Heard wraps a strategy so that tell hears each assignment made by it. sarama calls OnAssignment on the strategy that won the
// round only (consumer_group.go:523), so every strategy that is offered has to be wrapped.
func Heard(s sarama.BalanceStrategy, tell Listener) sarama.BalanceStrategy {
	h := heard{BalanceStrategy: s, tell: tell}
	if u, ok := s.(sarama.SubscriptionUserDataBalanceStrategy); ok {
		return &heardWithUserData{heard: h, speaker: u}
	}
	return &h
}

// heard keeps the strategy's name, its protocols and its own wish to hear of assignments.
type heard struct {
	sarama.BalanceStrategy
	tell Listener
}

var (
	_ sarama.OnAssignmentBalanceStrategy      = (*heard)(nil)
	_ sarama.RebalanceProtocolBalanceStrategy = (*heard)(nil)
)

// Plan adds the members that get nothing: without an entry the leader sends them zero bytes, and sarama then does not call
// OnAssignment (consumer_group.go:505), so that such a member would not hear that it lost everything.
func (h *heard) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	plan, err := h.BalanceStrategy.Plan(members, topics)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		plan = sarama.BalanceStrategyPlan{}
	}
	for id := range members {
		if plan[id] == nil {
			plan[id] = map[string][]int32{}
		}
	}
	return plan, nil
}

// OnAssignment implements sarama.OnAssignmentBalanceStrategy.
func (h *heard) OnAssignment(a *sarama.ConsumerGroupMemberAssignment, generation int32) {
	if inner, ok := h.BalanceStrategy.(sarama.OnAssignmentBalanceStrategy); ok {
		inner.OnAssignment(a, generation)
	}
	h.tell(assignmentOf(a.Topics), generation)
}

// SupportedProtocols implements sarama.RebalanceProtocolBalanceStrategy.
func (h *heard) SupportedProtocols() []sarama.RebalanceProtocol {
	return protocolsOf(h.BalanceStrategy)
}

// protocolsOf are those of a strategy. One that does not say is eager, as in sarama.
func protocolsOf(s sarama.BalanceStrategy) []sarama.RebalanceProtocol {
	if says, ok := s.(sarama.RebalanceProtocolBalanceStrategy); ok {
		return says.SupportedProtocols()
	}
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolEager}
}

// heardWithUserData is for strategies that speak into the subscription. It is a type of its own because sarama replaces the
// configured user data as soon as the method exists (consumer_group.go:628).
type heardWithUserData struct {
	heard
	speaker sarama.SubscriptionUserDataBalanceStrategy
}

var _ sarama.SubscriptionUserDataBalanceStrategy = (*heardWithUserData)(nil)

// SubscriptionUserData implements sarama.SubscriptionUserDataBalanceStrategy.
func (h *heardWithUserData) SubscriptionUserData(topics []string) ([]byte, error) {
	return h.speaker.SubscriptionUserData(topics)
}
