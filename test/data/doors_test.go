package data_test

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// tunnel is a proxy dialer of the user's: all that is dialled goes through one proxy to one broker.
type tunnel struct{ *netproxy.Proxy }

func newTunnel(t *testing.T, to string) tunnel {
	t.Helper()
	p, err := netproxy.Listen("127.0.0.1:0", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return tunnel{p}
}

func (d tunnel) Dial(network, _ string) (net.Conn, error) {
	return net.DialTimeout(network, d.Addr(), 5*time.Second)
}

func (d tunnel) use(c *sarama.Config) { c.Net.Proxy.Enable, c.Net.Proxy.Dialer = true, d }

// open is how many connections there are now, and keys what was asked for on them.
func (d tunnel) open() (n int, keys []int16) {
	for _, c := range d.Conns() {
		if c.Open {
			n++
		}
		keys = append(keys, c.Keys...)
	}
	return n, keys
}

// B09. Everything goes through the dialer: fetches, and the two connections to the coordinator.
func TestB09EverythingGoesThroughTheDialerOfTheUser(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, d := s.Group(t, 1), newTunnel(t, s.Broker.Addrs()[0])
		g.ProduceTo(0, 1)
		m := g.Start("a", instant, behind(s.Broker, d.use))
		g.UntilAllHandled()
		g.Until("heartbeats are sent", func() bool { _, keys := d.open(); return slices.Contains(keys, key(kmsg.Heartbeat)) })
		n, keys := d.open()
		for _, want := range []kmsg.Key{
			kmsg.Metadata, kmsg.ListOffsets, kmsg.Fetch, kmsg.FindCoordinator, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetFetch, kmsg.OffsetCommit,
		} {
			if !slices.Contains(keys, key(want)) {
				g.Errorf("no %s went through the dialer", want.Name())
			}
		}
		if n < 3 {
			g.Errorf("%d connections are open, want sarama's own and two to the coordinator", n)
		}
		m.Stop()
	}, everywhere()...)
}

func key(k kmsg.Key) int16 { return int16(k) }

// B09. TLS and each mechanism inside it, through a dialer of the user's, in tasks that last for several authentications: these happen
// on the connections that there are.
func TestB09EveryDoorIsOpenAndStaysOpen(t *testing.T) {
	t.Parallel()
	for _, door := range kafkatest.Doors() {
		t.Run(string(door), func(t *testing.T) {
			onKafka(t, func(t *testing.T, s kit.Setting) {
				b := shared.Kafka(t, kafkatest.Newest).Through(door)
				d := newTunnel(t, b.Addrs()[0])
				g := kit.Setting{Broker: b, Eager: s.Eager}.Group(t, 2)
				g.Produce(2)
				gate := kit.NewGate()
				m := g.Start("a", gate.Hold, behind(b, d.use))
				g.UntilSeen(2, kit.Started)
				g.UntilSeen(2, kit.Committed, kit.AtOffset(0))
				before := len(d.Conns())
				time.Sleep(5 * reauthAfter / 2) // the tasks
				gate.Open()
				g.UntilAllHandled()
				if n, now := d.open(); n < 3 || len(d.Conns()) != before {
					g.Errorf("%d connections of which %d are open, and %d at first: %v", len(d.Conns()), n, before, now)
				}
				g.WantAtMost(1, kit.Assigned)
				g.WantAtMost(0, kit.Ended)
				g.WantAtMost(0, kit.Troubled)
				m.Stop()
			})
		})
	}
}

// moody is a token provider that at times has no good token.
type moody struct {
	sarama.AccessTokenProvider
	bad  atomic.Bool
	asks atomic.Int64
}

func (m *moody) Token() (*sarama.AccessToken, error) {
	m.asks.Add(1)
	if m.bad.Load() {
		return wrongTokens{}.Token()
	}
	return m.AccessTokenProvider.Token()
}

// B09. Credentials that expire in mid-run are told at once, long before the lease is over, and asked for again, slower and slower, until
// they are good.
func TestB09CredentialsThatGoBadInMidRunAreToldAndWaitedFor(t *testing.T) {
	onKafka(t, func(t *testing.T, s kit.Setting) {
		g, log, gate := s.Group(t, 1), &transcript{}, kit.NewGate()
		g.Input.CrashDetection = longestWait
		g.ProduceTo(0, 2)
		tokens := &moody{}
		m := g.Start("a", gate.Hold, log.record, behind(shared.Kafka(t, kafkatest.Newest).Through(kafkatest.OAuth), func(c *sarama.Config) {
			tokens.AccessTokenProvider = c.Net.SASL.TokenProvider
			c.Net.SASL.TokenProvider = tokens
		}))
		g.UntilSeen(1, kit.Started)
		tokens.bad.Store(true)
		begin := g.Note("no token is good")
		e := g.UntilSeen(1, kit.Troubled, kit.After(begin), kit.Is(sarama.ErrSASLAuthenticationFailed))[0]
		g.WantWithin("the error hook is called", begin, e.At, reauthAfter+told)
		asks := tokens.asks.Load()
		time.Sleep(told)
		if n := tokens.asks.Load() - asks; n > 20 {
			g.Errorf("%d authentications in %v, want growing pauses", n, told)
		}
		wantHidden(t, log.String(), g.History.String())
		tokens.bad.Store(false)
		gate.Open()
		g.UntilAllHandled()
		g.WantAtMost(0, kit.Cancelled)
		m.Stop()
	})
}

// B09. The broker answers to no authentication for longer than a client waits, in the middle of a task; the task does not notice.
func TestB09AnAuthenticationTimeoutInMidRunIsSurvived(t *testing.T) {
	t.Parallel()
	for name, eager := range map[string]bool{"eager": true, "cooperative": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, b := withPassword(t)
			g, gate := kit.Setting{Broker: b, Eager: eager}.Group(t, 1), kit.NewGate()
			g.Input.CrashDetection = longestWait
			g.ProduceTo(0, 2)
			m := g.Start("a", gate.Hold)
			g.UntilSeen(1, kit.Started)
			g.UntilSeen(1, kit.Committed)
			answered := holdBack(fake, kmsg.SASLAuthenticate, g.Plan().CallTimeout+time.Second)
			g.Until("authentications are answered again", answered)
			gate.Open()
			g.UntilAllHandled()
			g.WantAtMost(0, kit.Cancelled)
			g.WantAtMost(1, kit.Assigned)
			m.Stop()
		})
	}
}

// withPassword starts an in-process broker that asks for a password, again and again.
func withPassword(t *testing.T) (*kafkatest.FakeBroker, kafkatest.Broker) {
	t.Helper()
	fake := kafkatest.Fake(t, kfake.EnableSASL(), kfake.Superuser(sarama.SASLTypePlaintext, kafkatest.User, kafkatest.Password),
		kfake.BrokerConfigs(map[string]string{"connections.max.reauth.ms": "3000"}))
	return fake, kafkatest.Connect(fake.Addrs(), func() *sarama.Config {
		c := fake.Config()
		c.Net.SASL.Enable, c.Net.SASL.Mechanism = true, sarama.SASLTypePlaintext
		c.Net.SASL.User, c.Net.SASL.Password = kafkatest.User, kafkatest.Password
		return c
	})
}

// holdBack makes the broker answer to no request of a kind for d, from the next one on. over tells that this has come and gone.
func holdBack(fake *kafkatest.FakeBroker, k kmsg.Key, d time.Duration) (over func() bool) {
	var until atomic.Int64
	fake.Cluster.ControlKey(int16(k), func(kmsg.Request) (kmsg.Response, error, bool) {
		until.CompareAndSwap(0, time.Now().Add(d).UnixNano())
		if wait := time.Until(time.Unix(0, until.Load())); wait > 0 {
			fake.Cluster.SleepControl(func() { time.Sleep(wait) })
		}
		return nil, nil, false
	})
	return func() bool { end := until.Load(); return end != 0 && time.Now().UnixNano() > end }
}
