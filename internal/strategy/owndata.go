package strategy

import "github.com/IBM/sarama"

// ownData is a strategy with data of its own.
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

// OwnData lets a strategy that is offered beside ours, and says nothing at a join, say what it has said itself with its latest assignment, and
// before that the static user data. sarama would give it that of the latest assignment of all (consumer_group.go:515): sticky cannot read
// what ours has said, and no round of it would succeed. A strategy that says something itself is returned as it is.
func OwnData(s sarama.BalanceStrategy, static []byte) sarama.BalanceStrategy {
	if _, speaks := s.(sarama.SubscriptionUserDataBalanceStrategy); speaks {
		return s
	}
	return &ownData{BalanceStrategy: s, static: static, said: static}
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

// SupportedProtocols implements sarama.RebalanceProtocolBalanceStrategy.
func (o *ownData) SupportedProtocols() []sarama.RebalanceProtocol {
	return protocolsOf(o.BalanceStrategy)
}
