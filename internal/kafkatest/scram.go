package kafkatest

import (
	"crypto/sha512"
	"hash"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// scramClient is one SCRAM-SHA-512 conversation.
type scramClient struct{ conversation *scram.ClientConversation }

var _ sarama.SCRAMClient = (*scramClient)(nil)

// Begin implements [sarama.SCRAMClient].
func (c *scramClient) Begin(user, password, authzID string) error {
	client, err := scram.HashGeneratorFcn(func() hash.Hash { return sha512.New() }).NewClient(user, password, authzID)
	if err != nil {
		return err
	}
	c.conversation = client.NewConversation()
	return nil
}

// Step implements [sarama.SCRAMClient].
func (c *scramClient) Step(challenge string) (string, error) { return c.conversation.Step(challenge) }

// Done implements [sarama.SCRAMClient].
func (c *scramClient) Done() bool { return c.conversation.Done() }
