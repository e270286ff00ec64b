package twin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/sarama"
)

// spy is cooperative-sticky, and notes each call.
type spy struct {
	sarama.BalanceStrategy
	member *member
	fault  error // of Plan
}

func spied() *spy { return &spy{BalanceStrategy: cooperative()} }

func (s *spy) SupportedProtocols() []sarama.RebalanceProtocol {
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolCooperative, sarama.RebalanceProtocolEager}
}

func (s *spy) OnAssignment(a *sarama.ConsumerGroupMemberAssignment, generation int32) {
	s.member.note("is assigned %d in generation %d", count(a.Topics), generation)
	if next, ok := s.BalanceStrategy.(sarama.OnAssignmentBalanceStrategy); ok {
		next.OnAssignment(a, generation)
	}
}

// Plan notes who is planned for. The number of joins is not noted: a broker that loads a new group makes members join again.
func (s *spy) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	var texts []string
	for _, m := range members {
		owned := 0
		for _, o := range m.OwnedPartitions {
			owned += len(o.Partitions)
		}
		texts = append(texts, fmt.Sprintf("version %d, %d owned in generation %d", m.Version, owned, m.GenerationID))
	}
	slices.Sort(texts)
	s.member.note("plans for %s", strings.Join(texts, "; "))
	if s.fault != nil {
		return nil, s.fault
	}
	return s.BalanceStrategy.Plan(members, topics)
}
