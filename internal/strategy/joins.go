package strategy

import "github.com/IBM/sarama"

// Joins makes tell hear that the member is about to send a JoinGroup: sarama asks a strategy for its user data immediately before.
// s comes from [Heard]; a strategy without user data is returned as it is, for sarama does not ask it.
func Joins(s sarama.BalanceStrategy, tell func()) sarama.BalanceStrategy {
	h, ok := s.(*heardWithUserData)
	if !ok {
		return s
	}
	return &joins{heardWithUserData: h, tell: tell}
}

type joins struct {
	*heardWithUserData
	tell func()
}

var _ sarama.SubscriptionUserDataBalanceStrategy = (*joins)(nil)

// SubscriptionUserData implements sarama.SubscriptionUserDataBalanceStrategy.
func (j *joins) SubscriptionUserData(topics []string) ([]byte, error) {
	j.tell()
	return j.heardWithUserData.SubscriptionUserData(topics)
}
