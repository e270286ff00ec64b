package kafkatest_test

import (
	"sync/atomic"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func TestDoorsConform(t *testing.T) {
	for _, version := range []string{kafkatest.Newest, kafkatest.Oldest} {
		t.Run(version, func(t *testing.T) {
			n := shared.Kafka(t, version)
			for _, door := range kafkatest.Doors() {
				t.Run(string(door), func(t *testing.T) {
					conformCommits(t, n.Through(door))
					conformGroup(t, n.Through(door), sarama.NewBalanceStrategySticky, "")
				})
				t.Run(string(door)+"-closed", func(t *testing.T) { wantClosed(t, n.Through(door)) })
			}
		})
	}
}

// wantClosed asserts that a client without the right key does not come in.
func wantClosed(t *testing.T, b *kafkatest.Remote) {
	cfg := b.Config()
	cfg.Net.SASL.Password = "wrong"
	cfg.Net.SASL.TokenProvider = noTokens{}
	if !cfg.Net.SASL.Enable {
		cfg.Net.TLS.Config.RootCAs = nil // the system's
	}
	cfg.Metadata.Retry.Max = 0
	if client, err := sarama.NewClient(b.Addrs(), cfg); err == nil {
		client.Close()
		t.Error("came in with the wrong key")
	}
}

type noTokens struct{}

func (noTokens) Token() (*sarama.AccessToken, error) { return &sarama.AccessToken{Token: "wrong"}, nil }

func TestReauthenticationIsAskedFor(t *testing.T) {
	n := shared.Kafka(t, kafkatest.Newest)
	b := n.Through(kafkatest.OAuth)
	cfg := b.Config()
	tokens := &countedTokens{AccessTokenProvider: cfg.Net.SASL.TokenProvider}
	cfg.Net.SASL.TokenProvider = tokens
	broker := sarama.NewBroker(b.Addrs()[0])
	must(t, broker.Open(cfg))
	defer broker.Close()
	for tokens.given.Load() < 3 { // on the one connection that broker has
		_, err := broker.GetMetadata(&sarama.MetadataRequest{Version: 5})
		must(t, err)
	}
}

type countedTokens struct {
	sarama.AccessTokenProvider
	given atomic.Int64
}

func (c *countedTokens) Token() (*sarama.AccessToken, error) {
	c.given.Add(1)
	return c.AccessTokenProvider.Token()
}
