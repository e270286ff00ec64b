package peers

import (
	"context"

	"github.com/IBM/sarama"
)

// Blocking is the handler of sarama's own example: the work is done in the claim's loop.
type Blocking struct{}

// Name implements Peer.
func (Blocking) Name() string { return "sarama_blocking" }

// Says implements Peer.
func (Blocking) Says() string {
	return "sarama's own example: the claim's loop does the work, then marks the message; range assignment, commits each second"
}

// Orders implements Peer.
func (Blocking) Orders() []Order { return []Order{ByPartition} }

// Run implements Peer.
func (Blocking) Run(ctx context.Context, s Settings, work Work) error {
	return consume(ctx, s, saramaConfig(s), blockingHandler{work: work})
}

type blockingHandler struct {
	plainSession
	work Work
}

// ConsumeClaim implements sarama.ConsumerGroupHandler.
func (h blockingHandler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			_ = h.work(context.Background(), Message{m.Partition, m.Offset}) // a context that never ends: it does not fail
			session.MarkMessage(m, "")
		case <-session.Context().Done():
			return nil
		}
	}
}
