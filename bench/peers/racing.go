package peers

import (
	"context"

	"github.com/IBM/sarama"
)

// Racing runs each message in a goroutine of its own and lets it race the session: what is not done when the session ends is left.
type Racing struct {
	Cooperative bool // else sticky, which is eager
}

// Name implements Peer.
func (r Racing) Name() string {
	if r.Cooperative {
		return "sarama_racing_cooperative"
	}
	return "sarama_racing"
}

// Says implements Peer.
func (r Racing) Says() string {
	if r.Cooperative {
		return "the racing handler under the cooperative protocol, whose session does not end when a partition is taken away"
	}
	return "a goroutine a message, which races the end of sarama's session and is left behind by it; sticky assignment, commits each second"
}

// Orders implements Peer.
func (Racing) Orders() []Order { return []Order{ByPartition} }

// Run implements Peer.
func (r Racing) Run(ctx context.Context, s Settings, work Work) error {
	c := saramaConfig(s)
	strategy := sarama.NewBalanceStrategySticky()
	if r.Cooperative {
		strategy = sarama.NewBalanceStrategyCooperativeSticky()
	}
	c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy}
	return consume(ctx, s, c, racingHandler{work: work})
}

type racingHandler struct {
	plainSession
	work Work
}

// ConsumeClaim implements sarama.ConsumerGroupHandler.
func (h racingHandler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for m := range claim.Messages() {
		done := make(chan error, 1)
		go func() { // nobody waits for it: that is the idiom
			done <- h.work(session.Context(), Message{m.Partition, m.Offset})
		}()
		select {
		case <-session.Context().Done():
			return nil
		case err := <-done:
			if err != nil { // it has seen the end of the session first
				return err
			}
			session.MarkMessage(m, "")
		}
	}
	return nil
}
