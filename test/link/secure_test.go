package link_test

import (
	"cmp"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// reauth is how long the node lets a client go without authenticating again. sarama does so before the first request after 85 to 95
// hundredths of it (broker.go, computeSaslSessionLifetime): a request that is on its way for longer than the rest comes too late, and
// the node then closes the connection, as it should.
const reauth, shortestRest = 10 * time.Second, reauth / 20

func TestSecurity(t *testing.T) {
	t.Parallel()
	node := kafkatest.Kafka(t, kafkatest.Options{Secure: true, ReauthAfter: reauth})
	t.Run("accepted", func(t *testing.T) { t.Parallel(); accepted(t, node) })
	t.Run("refused", func(t *testing.T) { t.Parallel(); refused(t, node) })
}

// accepted: TLS, and PLAIN, SCRAM and OAUTHBEARER inside it, hold for every connection. Sessions are authenticated again on the
// connection that there is, also when a join is pending meanwhile: no connection, no session and no commit is lost for it.
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

			for try := 1; ; try++ {
				lost, longest := outlive(t, b, name, m, o)
				if lost == 0 {
					break
				}
				if longest < shortestRest/2 || try == 10 { // else the machine stood still, and the node may have closed what came late
					t.Fatalf("%d connections lost", lost)
				}
			}
			wantNoErrors(t, m, late)
			if n := state(m, func() int { return m.sessions }); n != 1 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

// outlive commits for longer than two authentications last, while a newcomer keeps the joins of all pending until the late member beats
// again. It returns how many of the link's two connections were lost meanwhile, and how long the slowest commit took.
func outlive(t *testing.T, b kafkatest.Broker, name string, m *member, o options) (lost int, longest time.Duration) {
	t.Helper()
	newcomer := newMember(t, b, name, o)
	mine := state(m, func() int32 { return only(m.claims) })
	if _, err := m.commit(t.Context(), mine, 1); err != nil { // which opens the second one
		t.Fatal(err)
	}
	var lines []net.Conn
	eventually(t, "there are two", func() bool { // a question's own is gone when it is answered
		lines = m.wire.lines()
		return len(lines) == 2
	})
	longest, err := commitFor(t, m, mine, 5*reauth/2)
	lost = m.wire.lost(lines)
	if err != nil && lost == 0 {
		t.Error(err)
	}
	wantNoErrors(t, newcomer)
	_ = newcomer.stop()
	return lost, longest
}

// commitFor commits again and again, wants some to be accepted, and returns how long the slowest took and the first error.
func commitFor(t *testing.T, m *member, partition int32, d time.Duration) (longest time.Duration, failed error) {
	t.Helper()
	var took []time.Duration
	accepted := 0
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		from := time.Now()
		code, err := m.commit(t.Context(), partition, 1)
		if failed = cmp.Or(failed, err); code == sarama.ErrNoError {
			accepted++
		}
		took = append(took, time.Since(from))
	}
	middle, longest := spread(took)
	t.Logf("%d of %d commits accepted: p50 %s, max %s", accepted, len(took), middle, longest)
	if accepted == 0 {
		t.Error("no commit was accepted")
	}
	return longest, failed
}

func wantNoErrors(t *testing.T, members ...*member) {
	t.Helper()
	for i, m := range members {
		if errs := state(m, func() []error { return m.errs }); len(errs) > 0 {
			t.Errorf("member %d: %v", i, errs)
		}
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
