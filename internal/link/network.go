package link

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// network dials for everybody and can end the connections of sarama's own client.
type network struct {
	conf    *sarama.Config // of our own lines; set before the first one, then never changed
	tls     *tls.Config    // nil: clear text
	user    dialer
	timeout time.Duration
	life    *life

	// uncut ends with cut, and with the life.
	uncut context.Context
	stop  context.CancelFunc

	mu  sync.Mutex
	own map[net.Conn]struct{} // of sarama's own client
}

type dialer interface {
	Dial(network, addr string) (net.Conn, error)
}

type contextDialer interface {
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

func newNetwork(conf *sarama.Config, life *life) *network {
	uncut, stop := context.WithCancel(life.ctx)
	return &network{
		tls:     tlsConfig(conf),
		user:    userDialer(conf),
		timeout: conf.Net.DialTimeout,
		life:    life,
		uncut:   uncut,
		stop:    stop,
		own:     make(map[net.Conn]struct{}),
	}
}

// lineConfig is the configuration of our own connections: TLS is done by the dialer.
func lineConfig(conf *sarama.Config, short time.Duration) *sarama.Config {
	k := *conf
	k.Net.TLS.Enable, k.Net.TLS.Config = false, nil
	k.Net.ReadTimeout, k.Net.WriteTimeout = short, short
	return &k
}

func userDialer(conf *sarama.Config) dialer {
	if conf.Net.Proxy.Enable {
		return conf.Net.Proxy.Dialer
	}
	return &net.Dialer{Timeout: conf.Net.DialTimeout, KeepAlive: conf.Net.KeepAlive, LocalAddr: conf.Net.LocalAddr}
}

func (n *network) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if d, ok := n.user.(contextDialer); ok {
		return d.DialContext(ctx, network, addr)
	}
	return n.dialBlind(ctx, network, addr)
}

type dialled struct {
	conn net.Conn
	err  error
}

// dialBlind gives a dialer that knows no context up when ctx ends. A connection that comes later is closed.
func (n *network) dialBlind(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	result := make(chan dialled)
	// Ends when the user's dialer returns.
	started := n.life.run(func() {
		c, err := n.user.Dial(network, addr)
		select {
		case result <- dialled{c, err}:
		case <-ctx.Done():
			if err == nil {
				_ = c.Close()
			}
		}
	})
	if !started {
		return nil, net.ErrClosed
	}
	select {
	case d := <-result:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Dial makes the connections of sarama's own client.
func (n *network) Dial(network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(n.uncut, n.timeout)
	defer cancel()
	c, err := n.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return n.keep(c)
}

// keep remembers a connection for cut, which may have come while it was dialled.
//
// A TCP connection is handed on as it is, for sarama asks the socket itself about its health; it is forgotten at a later dial that
// finds it closed. Any other connection is wrapped and forgets itself.
func (n *network) keep(c net.Conn) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.uncut.Err() != nil {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	maps.DeleteFunc(n.own, func(old net.Conn, _ struct{}) bool { return isClosed(old) })
	n.own[c] = struct{}{}
	if _, bare := c.(*net.TCPConn); bare {
		return c, nil
	}
	return &forgetful{Conn: c, network: n}, nil
}

func isClosed(c net.Conn) bool {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	return err != nil || raw.Control(func(uintptr) {}) != nil
}

// cut closes every connection of sarama's own client and lets no new one be made, not even one that is being dialled.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stop()
	for c := range n.own {
		_ = c.Close()
	}
	clear(n.own)
}

// backoff replaces the pauses between the retries of sarama's own client. It spends a pause here, where a cut ends it, and tells
// sarama to go on at once: sarama sleeps the whole budget through, 5 s with the settings of this library, though it was closed.
func (n *network) backoff(conf *sarama.Config) func(retries, most int) time.Duration {
	pause := conf.Metadata.Retry.BackoffFunc
	if pause == nil {
		pause = func(int, int) time.Duration { return conf.Metadata.Retry.Backoff }
	}
	return func(retries, most int) time.Duration {
		_ = Sleep(n.uncut, pause(retries, most))
		return 0
	}
}

func (n *network) forget(c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.own, c)
}

type forgetful struct {
	net.Conn
	network *network
}

func (f *forgetful) Close() error {
	f.network.forget(f.Conn)
	return f.Conn.Close()
}
