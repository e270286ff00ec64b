package order_test

import (
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// G4, where a commit is lost: the task has ended, the broker has not heard of it when the session ends, and the partition comes back. The
// member knows better than the broker, and runs nothing again.
func TestACommitThatIsLostAtTheEndOfASessionRunsNothingAgain(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Input.CrashDetection = time.Minute // no time for the lease to end
		g.Input.Grace = config.NoGrace
		g.Produce(1)
		gate, line := kit.NewGate(), &deadLine{}
		a := g.Start("a", gate.Hold, line.member(g.Broker))
		g.UntilSeen(1, kit.Started)
		line.dead.Store(true)
		gate.Open()
		g.UntilSeen(1, kit.Returned)
		g.Until("the commit is lost", line.used.Load)
		sessions := g.Count(kit.Ended)
		other := g.Topic + "-other"
		must(t, g.Broker.CreateTopic(other, 1))
		b := g.Start("b", instant, func(c *consumer.Config) { c.Topics = []string{other} })
		g.Until("b is a member", func() bool { return len(b.Owns()) == 1 })
		if s.Eager {
			g.Until("a's session has ended", func() bool { return g.Count(kit.Ended) > sessions })
		}
		line.dead.Store(false)
		g.Produce(1)
		g.UntilAllHandled()
		b.Stop()
		a.Stop()
		g.WantAtMost(2, kit.Started)
	}, everywhere()...)
}

const offsetCommit = 8

// deadLine is a network on which a connection dies, while it is dead, with the first commit on it: nothing arrives any more.
type deadLine struct{ dead, used atomic.Bool }

func (l *deadLine) member(b kafkatest.Broker) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Brokers, c.Sarama = b.Addrs(), b.Config()
		c.Sarama.Net.Proxy.Enable, c.Sarama.Net.Proxy.Dialer = true, l
	}
}

// Dial implements sarama's proxy.Dialer.
func (l *deadLine) Dial(network, addr string) (net.Conn, error) {
	c, err := net.Dial(network, addr)
	return &deadConn{Conn: c, line: l}, err
}

type deadConn struct {
	net.Conn
	line *deadLine
	gone atomic.Bool
}

func (c *deadConn) Write(b []byte) (int, error) {
	if len(b) > 6 && binary.BigEndian.Uint16(b[4:]) == offsetCommit && c.line.dead.Load() {
		c.gone.Store(true)
		c.line.used.Store(true)
	}
	if c.gone.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}
