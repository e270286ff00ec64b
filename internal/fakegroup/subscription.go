package fakegroup

import (
	"maps"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

// held is what a member owns while it joins again under the cooperative protocol; nil for a new session.
type held struct {
	claims     map[string][]int32
	generation int32
}

// joinRequest builds the request that sarama sends (consumer_group.go:566-620), each strategy's metadata encoded by sarama.
func (g *Group) joinRequest(topics []string, h *held) (*sarama.JoinGroupRequest, error) {
	group := g.cfg.Consumer.Group
	req := sarama.NewJoinGroupRequest(g.cfg.Version)
	req.MemberId = g.MemberID()
	req.ProtocolType = "consumer"
	req.SessionTimeout = int32(group.Session.Timeout / time.Millisecond)
	if req.Version >= 1 {
		req.RebalanceTimeout = int32(group.Rebalance.Timeout / time.Millisecond)
	}
	if req.Version >= 5 {
		req.GroupInstanceId = g.instance
	}
	for _, s := range strategies(g.cfg) {
		if err := req.AddGroupProtocolMetadata(s.Name(), g.subscription(s, topics, h)); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// subscription is a member's metadata for one strategy. SubscriptionUserData is asked before each join; its error falls back to the
// configured user data (consumer_group.go:640-665).
func (g *Group) subscription(s sarama.BalanceStrategy, topics []string, h *held) *sarama.ConsumerGroupMemberMetadata {
	meta := &sarama.ConsumerGroupMemberMetadata{
		Version: g.subscriptionVersion(), Topics: topics, UserData: g.userData, GenerationID: sarama.GroupGenerationUndefined,
	}
	if h != nil {
		meta.OwnedPartitions, meta.GenerationID = owned(h.claims), h.generation
	}
	if p, ok := s.(sarama.SubscriptionUserDataBalanceStrategy); ok {
		if data, err := p.SubscriptionUserData(slices.Clone(topics)); err == nil {
			meta.UserData = data
		}
	}
	return meta
}

// subscriptionVersion follows the broker's version, not the protocol (consumer_group.go:624-633).
func (g *Group) subscriptionVersion() int16 {
	switch v := g.cfg.Version; {
	case v.IsAtLeast(sarama.V3_2_0_0):
		return 2
	case v.IsAtLeast(sarama.V2_4_0_0):
		return 1
	}
	return 0
}

func owned(claims map[string][]int32) []*sarama.OwnedPartition {
	var all []*sarama.OwnedPartition
	for _, topic := range slices.Sorted(maps.Keys(claims)) {
		all = append(all, &sarama.OwnedPartition{Topic: topic, Partitions: slices.Sorted(slices.Values(claims[topic]))})
	}
	return all
}
