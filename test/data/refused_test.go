package data_test

import (
	"crypto/tls"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// wrong is a password, and a token, that no log may show.
const wrong = "hunter2-is-not-it"

type wrongTokens struct{}

func (wrongTokens) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: wrong}, nil
}

// refusals are credentials that a broker does not take.
var refusals = map[string]struct {
	door  kafkatest.Door
	spoil func(*sarama.Config)
	is    func(error) bool
}{
	"plain": {kafkatest.Plain, wrongPassword, unauthenticated},
	"scram": {kafkatest.SCRAM, wrongPassword, unauthenticated},
	"oauth": {kafkatest.OAuth, func(c *sarama.Config) { c.Net.SASL.TokenProvider = wrongTokens{} }, unauthenticated},
	"mechanism": {kafkatest.SCRAM, func(c *sarama.Config) {
		wrongPassword(c)
		c.Net.SASL.Mechanism = sarama.SASLTypeSCRAMSHA256
	}, func(err error) bool { return errors.Is(err, sarama.ErrUnsupportedSASLMechanism) }},
	"certificate": {kafkatest.TLS, func(c *sarama.Config) { c.Net.TLS.Config.RootCAs = nil }, untrusted},
}

func unauthenticated(err error) bool { return errors.Is(err, sarama.ErrSASLAuthenticationFailed) }

func untrusted(err error) bool {
	var failed *tls.CertificateVerificationError
	return errors.As(err, &failed)
}

func wrongPassword(c *sarama.Config) { c.Net.SASL.Password = wrong }

// behind makes a member go through a door with a changed configuration.
func behind(b kafkatest.Broker, change func(*sarama.Config)) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Brokers, c.Sarama = b.Addrs(), b.Config()
		change(c.Sarama)
	}
}

// told is how soon B09 wants an authentication error to be.
const told = 10 * time.Second

// B09.
func TestB09WrongCredentialsAreToldAndNotShown(t *testing.T) {
	t.Parallel()
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			onKafka(t, func(t *testing.T, s kit.Setting) {
				g, log := s.Group(t, 1), &transcript{}
				door := shared.Kafka(t, kafkatest.Newest).Through(r.door)
				begin := time.Now()
				m := g.Start("a", instant, behind(door, r.spoil), log.record)
				stopped := g.UntilSeen(1, kit.Stopped)[0]
				g.WantWithin("Run returns", begin, stopped.At, told)
				g.WantWithin("the error hook is called", begin, g.Find(kit.Troubled)[0].At, told)
				var fatal *consumer.FatalError
				if err := m.Err(); !r.is(err) || !errors.As(err, &fatal) {
					g.Errorf("Run returned %v, want a FatalError of another kind", err)
				}
				wantGrowing(t, log, 2)
				wantHidden(t, m.Err().Error(), log.String(), g.History.String())
			})
		})
	}
}

var retryIn = regexp.MustCompile(`retry_in=(\S+)`)

// wantGrowing wants at least so many pauses, each longer than the one before.
func wantGrowing(t *testing.T, log *transcript, least int) {
	t.Helper()
	var pauses []time.Duration
	for _, found := range retryIn.FindAllStringSubmatch(log.String(), -1) {
		d, err := time.ParseDuration(found[1])
		if err != nil {
			t.Fatal(err)
		}
		pauses = append(pauses, d)
	}
	for i, d := range pauses {
		if i > 0 && d <= pauses[i-1] {
			t.Errorf("pauses %v, want them to grow", pauses)
		}
	}
	if len(pauses) < least {
		t.Errorf("pauses %v, want %d at least\n%s", pauses, least, log)
	}
}

// wantHidden wants the secret in none of the texts that a member has written, and sarama for all of them.
func wantHidden(t *testing.T, texts ...string) {
	t.Helper()
	sarama := saramaLog.String()
	if sarama == "" {
		t.Error("nothing of sarama's log was recorded")
	}
	for _, text := range append(texts, sarama) {
		if i := strings.Index(text, wrong); i >= 0 {
			t.Errorf("a secret is shown: %q", text[max(0, i-200):i+len(wrong)])
		}
	}
}
