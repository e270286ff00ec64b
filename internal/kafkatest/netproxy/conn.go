package netproxy

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Conn describes a connection.
type Conn struct {
	ClientID string  // of its first request; empty before it, and inside TLS
	Keys     []int16 // the API keys of its requests, each once, in the order of their first use
	Counts   []int   // how many requests of each of the Keys
	Open     bool
}

type conn struct {
	client net.Conn
	done   chan struct{} // closed by reset

	mu       sync.Mutex
	broker   net.Conn // nil until dialled
	clientID string
	keys     []int16
	counts   []int
	closed   bool
}

func newConn(client net.Conn) *conn { return &conn{client: client, done: make(chan struct{})} }

func (c *conn) describe() Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Conn{ClientID: c.clientID, Keys: slices.Clone(c.keys), Counts: slices.Clone(c.counts), Open: !c.closed}
}

// request notes a request that is about to pass.
func (c *conn) request(key int16, clientID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) == 0 {
		c.clientID = clientID
	}
	i := slices.Index(c.keys, key)
	if i < 0 {
		i = len(c.keys)
		c.keys, c.counts = append(c.keys, key), append(c.counts, 0)
	}
	c.counts[i]++
}

// reset closes both ends. With no linger the peers see a reset, not an end.
func (c *conn) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	close(c.done)
	for _, end := range []net.Conn{c.client, c.broker} {
		if tcp, ok := end.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // fails on a connection that has ended, which needs no reset
		}
		if end != nil {
			end.Close()
		}
	}
}

// dial connects to the broker, unless the connection was reset meanwhile.
func (c *conn) dial(target string) (net.Conn, error) {
	broker, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		broker.Close()
		return nil, net.ErrClosed
	}
	c.broker = broker
	return broker, nil
}

// carry forwards both ways until one end closes or the connection is reset.
func (p *Proxy) carry(c *conn) {
	defer c.reset()
	sent := p.pieces(c, c.client, func(err error) {
		// A reset takes back what was sent before it and is still held, as TCP would not deliver that either; an end comes after it.
		if errors.Is(err, syscall.ECONNRESET) {
			c.reset()
		}
	})
	if !p.hold(c, ToBroker) { // a connection that is made during a cut reaches the broker after it
		return
	}
	broker, err := c.dial(p.target)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	// Ends when the broker closes, or at the reset below.
	back.Go(func() {
		p.pipe(c, p.pieces(c, broker, func(error) {}), c.client, ToClient, func([]byte) {})
	})
	var requests parser
	p.pipe(c, sent, broker, ToBroker, func(b []byte) { requests.feed(b, c.request) })
	c.reset()
	back.Wait()
}

// ahead is how many pieces are read before those that are held have passed.
const ahead = 64

// pieces reads what comes from one end until that closes, and says how it did.
func (p *Proxy) pieces(c *conn, from net.Conn, closed func(error)) <-chan []byte {
	out := make(chan []byte, ahead)
	// Ends when the connection does.
	p.wg.Go(func() {
		defer close(out)
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				select {
				case out <- bytes.Clone(buf[:n]):
				case <-c.done:
					return
				}
			}
			if err != nil {
				closed(err)
				return
			}
		}
	})
	return out
}

// pipe forwards one direction. An end of one direction ends the connection: Kafka's peers never half-close.
func (p *Proxy) pipe(c *conn, pieces <-chan []byte, to net.Conn, d Direction, inspect func([]byte)) {
	defer c.reset()
	for piece := range pieces {
		inspect(piece)
		if !p.hold(c, d) {
			return
		}
		if _, err := to.Write(piece); err != nil {
			return
		}
	}
	// The end of a connection does not pass a cut either.
	p.hold(c, d)
}

// hold returns when a piece may pass, and false if the connection was reset before.
func (p *Proxy) hold(c *conn, d Direction) bool {
	for delayed := false; ; {
		cut, delay, changed := p.verdict(c, d)
		var wait <-chan time.Time // none while cut
		switch {
		case !cut && (delay == 0 || delayed):
			return true
		case !cut:
			wait = time.After(delay)
		}
		select {
		case <-wait:
			delayed = true
		case <-changed:
		case <-c.done:
			return false
		}
	}
}
