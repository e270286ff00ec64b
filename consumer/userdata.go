package consumer

import "github.com/IBM/sarama"

// ownData gives a strategy that says nothing at a join what it has said itself with its latest assignment. sarama would give it that of
// the latest assignment of all (consumer_group.go:515): sticky cannot read what ours has said, and no round of it would succeed.
type ownData struct {
	sarama.BalanceStrategy
	static []byte // Consumer.Group.Member.UserData
	said   []byte // as long as nothing was, the former
}

var (
	_ sarama.SubscriptionUserDataBalanceStrategy = (*ownData)(nil)
	_ sarama.OnAssignmentBalanceStrategy         = (*ownData)(nil)
	_ sarama.RebalanceProtocolBalanceStrategy    = (*ownData)(nil)
)

// withOwnData leaves strategies alone that say something themselves.
func withOwnData(list []sarama.BalanceStrategy, static []byte) []sarama.BalanceStrategy {
	out := make([]sarama.BalanceStrategy, len(list))
	for i, s := range list {
		out[i] = s
		if _, speaks := s.(sarama.SubscriptionUserDataBalanceStrategy); !speaks {
			out[i] = &ownData{BalanceStrategy: s, static: static, said: static}
		}
	}
	return out
}

// SubscriptionUserData implements sarama.SubscriptionUserDataBalanceStrategy.
func (o *ownData) SubscriptionUserData([]string) ([]byte, error) { return o.said, nil }

// OnAssignment implements sarama.OnAssignmentBalanceStrategy. sarama calls it on the strategy that won the round, between two joins.
func (o *ownData) OnAssignment(a *sarama.ConsumerGroupMemberAssignment, generation int32) {
	if o.said = a.UserData; o.said == nil {
		o.said = o.static
	}
	if inner, ok := o.BalanceStrategy.(sarama.OnAssignmentBalanceStrategy); ok {
		inner.OnAssignment(a, generation)
	}
}

// SupportedProtocols implements sarama.RebalanceProtocolBalanceStrategy. A strategy that does not say is eager, as in sarama.
func (o *ownData) SupportedProtocols() []sarama.RebalanceProtocol {
	if inner, ok := o.BalanceStrategy.(sarama.RebalanceProtocolBalanceStrategy); ok {
		return inner.SupportedProtocols()
	}
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolEager}
}
