package link

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"
)

// linger is how long a request whose caller has gone may still be answered before its connection is closed. Nearly every answer
// comes within it, and the connection stays good for the next caller.
const linger = 250 * time.Millisecond

// line is one connection to one broker. It is opened once and never again: a sarama.Broker that is opened anew races with those who
// still hold it, and does not notice that its socket was closed below it.
type line struct {
	broker *sarama.Broker
	conn   atomic.Pointer[conn] // nil until dialled
}

// connect opens a line and returns when the broker has accepted it: dialled, TLS, versions and SASL done. It gives up with ctx.
func (n *network) connect(ctx context.Context, addr string, long time.Duration) (*line, error) {
	ln := &line{broker: sarama.NewBroker(addr)}
	conf := *n.conf
	// A broker that closes unregisters its metrics, those shared by all brokers of the registry among them: the user's registry
	// would lose the figures of sarama's own client.
	conf.MetricRegistry = sarama.NewConfig().MetricRegistry
	conf.Net.Proxy.Enable = true
	conf.Net.Proxy.Dialer = dialFunc(func(network, addr string) (net.Conn, error) {
		return ln.dial(ctx, n, network, addr, long)
	})
	if err := ln.broker.Open(&conf); err != nil {
		return nil, err
	}
	if err := ln.ready(ctx); err != nil {
		_ = ln.broker.Close()
		return nil, err
	}
	return ln, nil
}

// ready waits until the line is up. Connected holds the lock of the Broker until all of it is done, so the end of ctx closes the
// socket instead.
func (ln *line) ready(ctx context.Context) error {
	stop := context.AfterFunc(ctx, ln.drop)
	up, err := ln.broker.Connected()
	switch {
	case !stop():
		return ctx.Err()
	case err != nil:
		return err
	case !up:
		return sarama.ErrNotConnected
	}
	return nil
}

func (ln *line) dial(ctx context.Context, n *network, network, addr string, long time.Duration) (net.Conn, error) {
	within, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	raw, err := n.dial(within, network, addr)
	if err != nil {
		return nil, err
	}
	c := newConn(raw, long)
	if n.tls != nil {
		if c.Conn, err = handshake(within, raw, addr, n.tls); err != nil {
			return nil, err
		}
	}
	ln.conn.Store(c)
	// ctx may have ended, and drop have found nothing, between the dial and the store.
	if ctx.Err() != nil {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

func (ln *line) dead() bool {
	c := ln.conn.Load()
	return c != nil && c.dead.Load()
}

// waitsFor says that a request of this kind is out.
func (ln *line) waitsFor(key int32) bool {
	c := ln.conn.Load()
	return c != nil && c.out.Load() == key && !c.dead.Load()
}

// waitsForName says that a JoinGroup is out which asks for a member id.
func (ln *line) waitsForName() bool {
	return ln.waitsFor(keyJoinGroup) && ln.conn.Load().unnamed.Load()
}

// lastSync is zero where there was none.
func (ln *line) lastSync() (s Sync) {
	c := ln.conn.Load()
	if c == nil {
		return s
	}
	due := c.due.Load() // before the sync: it is due until it is sent
	if last := c.sync.Load(); last != nil {
		s = *last
		dead := c.dead.Load()
		if s.Out = s.Answered.IsZero() && !dead; dead {
			s.Answered = time.Time{} // a join may have been out, and have begun another round
		}
	}
	s.Due = due
	return s
}

func (ln *line) left() bool {
	c := ln.conn.Load()
	return c != nil && c.left.Load()
}

// drop closes the socket. Whoever waits for an answer on it is told at once; Broker.Close would wait with them.
func (ln *line) drop() {
	if c := ln.conn.Load(); c != nil {
		_ = c.Close()
	}
}

// close frees what the Broker holds. With the socket closed it waits for nobody.
func (ln *line) close() {
	ln.drop()
	_ = ln.broker.Close()
}

// abort is drop for a request that nobody waits for any more.
func (ln *line) abort() {
	if c := ln.conn.Load(); c != nil {
		c.abort()
	}
}

// watch aborts the line when ctx ends and the answer is still out after linger. The caller calls settled when the answer is there.
//
// Both sides claim the answer. Without that, a timer that fires just as the answer comes would close the connection under the next
// caller's request. When the timer wins, settled closes the socket as well, so that it is dead before the next caller looks.
func (ln *line) watch(ctx context.Context) (settled func()) {
	var claimed atomic.Bool
	give := func() {
		if claimed.CompareAndSwap(false, true) {
			ln.abort()
		}
	}
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(linger, give) })
	return func() {
		stop()
		if !claimed.CompareAndSwap(false, true) {
			ln.abort()
		}
	}
}

// dialFunc is a proxy.Dialer, satisfied structurally.
type dialFunc func(network, addr string) (net.Conn, error)

func (f dialFunc) Dial(network, addr string) (net.Conn, error) { return f(network, addr) }
