package link_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// reauth is how long the node lets a client go without authenticating again.
const reauth = 6 * time.Second

func TestSecurity(t *testing.T) {
	t.Parallel()
	node := kafkatest.Kafka(t, kafkatest.Options{Secure: true, ReauthAfter: reauth})
	t.Run("accepted", func(t *testing.T) { t.Parallel(); accepted(t, node) })
	t.Run("refused", func(t *testing.T) { t.Parallel(); refused(t, node) })
}

// accepted: TLS, and PLAIN, SCRAM and OAUTHBEARER inside it, hold for every connection. Sessions are authenticated again on the
// connection that there is, also after a join that was pending for longer than that: no dial, no session and no commit is lost for it.
func accepted(t *testing.T, node *kafkatest.Node) {
	t.Helper()
	for _, door := range kafkatest.Doors() {
		t.Run(string(door), func(t *testing.T) {
			t.Parallel()
			b := node.Through(door)
			name := topic(t, b, 2)
			o := options{strategy: sarama.NewBalanceStrategyCooperativeSticky(), topics: []string{name}}
			m := newMember(t, b, name, o)
			eventually(t, "it holds all", func() bool { return m.holds() == 2 })
			late := newMember(t, b, name, slowly(o))
			eventually(t, "they share", func() bool { return m.holds() == 1 && late.holds() == 1 })
			newcomer := newMember(t, b, name, o) // the joins of all are pending until the late member beats again
			mine := state(m, func() int32 { return only(m.claims) })
			if _, err := m.commit(t.Context(), mine, 1); err != nil {
				t.Fatal(err)
			}
			dials := m.wire.dialled()
			if dials < 2 {
				t.Errorf("%d dials of the link's two connections", dials)
			}
			var took []time.Duration
			for end := time.Now().Add(5 * reauth / 2); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				from := time.Now()
				code, err := m.commit(t.Context(), mine, 1)
				if err != nil {
					t.Fatal(err)
				}
				if code == sarama.ErrNoError {
					took = append(took, time.Since(from))
				}
			}
			middle, longest := spread(took)
			t.Logf("%d commits accepted: p50 %s, max %s", len(took), middle, longest)
			if len(took) == 0 {
				t.Error("no commit was accepted")
			}
			if now := m.wire.dialled(); now != dials {
				t.Errorf("%d dials more", now-dials)
			}
			for who, m := range map[string]*member{"first": m, "late": late, "newcomer": newcomer} {
				if errs := state(m, func() []error { return m.errs }); len(errs) > 0 {
					t.Errorf("%s: %v", who, errs)
				}
			}
			if n := state(m, func() int { return m.sessions }); n != 1 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func only(set map[int32]bool) int32 {
	for p := range set {
		return p
	}
	return -1
}

// refused is B09: a real broker's refusal reaches New's caller as what it is, without the password.
func refused(t *testing.T, node *kafkatest.Node) {
	t.Helper()
	const wrong = "not-the-password"
	for name, c := range map[string]struct {
		door kafkatest.Door
		bad  func(*sarama.Config)
		is   func(error) bool
	}{
		"plain": {kafkatest.Plain, func(k *sarama.Config) { k.Net.SASL.Password = wrong }, authentication},
		"scram": {kafkatest.SCRAM, func(k *sarama.Config) { k.Net.SASL.Password = wrong }, authentication},
		"mechanism": {kafkatest.Plain, func(k *sarama.Config) {
			k.Net.SASL.Mechanism = sarama.SASLTypeSCRAMSHA256
			k.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return nil }
		}, func(err error) bool { return errors.Is(err, sarama.ErrUnsupportedSASLMechanism) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := node.Through(c.door)
			conf := b.Config()
			c.bad(conf)
			_, err := link.New(t.Context(), b.Addrs(), "group", conf, link.Options{})
			if !c.is(err) || strings.Contains(err.Error(), wrong) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func authentication(err error) bool { return errors.Is(err, sarama.ErrSASLAuthenticationFailed) }
