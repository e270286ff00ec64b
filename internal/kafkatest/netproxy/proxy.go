// Package netproxy puts a TCP proxy on loopback between Kafka clients and a broker, and lets a test break the network there:
// cut it, slow it down, refuse or reset connections; in one direction or both; for all connections or for those of one client
// or of one kind.
package netproxy

import (
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// Proxy forwards the connections that it accepts to one target. Its methods are safe for concurrent use.
type Proxy struct {
	addr   string
	target string
	wg     sync.WaitGroup // every goroutine of the proxy

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	rules    []rule
	changed  chan struct{} // closed and replaced when rules change
	conns    []*conn       // all that were ever accepted
	closed   bool
}

// rule is what happens to what matches: it is held for ever (cut) or for a while.
type rule struct {
	match Match
	cut   bool
	delay time.Duration
}

// Listen starts a proxy at addr (host:port; port 0 takes any) for target. The caller closes it.
func Listen(addr, target string) (*Proxy, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &Proxy{addr: l.Addr().String(), target: target, changed: make(chan struct{})}
	p.serveLocked(l)
	return p, nil
}

// Addr is where clients connect to.
func (p *Proxy) Addr() string { return p.addr }

// Cut holds everything that matches, silently: connections stay open or are accepted, and nothing passes. What was sent meanwhile
// passes after [Proxy.Restore], as TCP would deliver it after a network's outage, unless the client has reset its connection since.
func (p *Proxy) Cut(m Match) { p.add(rule{match: m, cut: true}) }

// Delay holds each piece (64 KiB at most) of what matches for d.
func (p *Proxy) Delay(m Match, d time.Duration) { p.add(rule{match: m, delay: d}) }

// Refuse resets all connections and refuses new ones, as the host of a broker that is down does.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	p.resetLocked(Match{})
}

// Reset closes the connections that match with a TCP reset, in both directions. New ones are accepted.
func (p *Proxy) Reset(m Match) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resetLocked(m)
}

func (p *Proxy) resetLocked(m Match) {
	for _, c := range p.conns {
		if m.connection(c) {
			c.reset()
		}
	}
}

// Restore ends what Cut, Delay and Refuse began. It fails if somebody took the port meanwhile.
func (p *Proxy) Restore() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
	p.wakeLocked()
	if p.listener != nil || p.closed {
		return nil
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		return err
	}
	p.serveLocked(l)
	return nil
}

// Conns describes the connections so far, the closed ones too, in the order in which they were accepted.
func (p *Proxy) Conns() (out []Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		out = append(out, c.describe())
	}
	return out
}

// Close ends the proxy and its connections and waits for its goroutines.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.wakeLocked()
	p.mu.Unlock()
	p.Refuse()
	p.wg.Wait()
	return nil
}

func (p *Proxy) add(r rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
	p.wakeLocked()
}

func (p *Proxy) wakeLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Proxy) serveLocked(l net.Listener) {
	p.listener = l
	// Ends when the listener is closed.
	p.wg.Go(func() {
		for {
			client, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				p.accept(l, client)
			}
		}
	})
}

func (p *Proxy) accept(l net.Listener, client net.Conn) {
	c := newConn(client)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != l { // refused while it was being accepted
		c.reset()
		return
	}
	p.conns = append(p.conns, c)
	// Ends when the connection does.
	p.wg.Go(func() { p.carry(c) })
}

// verdict is what the rules say now about a piece that goes that way, and a channel that is closed when they change.
func (p *Proxy) verdict(c *conn, d Direction) (cut bool, delay time.Duration, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false, 0, p.changed
	}
	for _, r := range p.rules {
		if !r.match.passing(c, d) {
			continue
		}
		cut = cut || r.cut
		delay = max(delay, r.delay)
	}
	return cut, delay, p.changed
}

// Match selects connections, and a direction. The zero value matches everything.
type Match struct {
	// Direction of what is held. Zero means both. It has no bearing on Reset.
	Direction Direction
	// ClientID of the requests on the connection. Empty matches all. A connection is known by its first request: until then it
	// matches no ClientID.
	ClientID string
	// Keys are Kafka API keys: a connection matches from the first request with one of them on. Empty matches all.
	Keys []int16
}

// Direction is a set of the two ways that bytes take.
type Direction uint8

// The directions.
const (
	ToBroker Direction = 1 << iota
	ToClient
)

func (m Match) connection(c *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.ClientID != "" && c.clientID != m.ClientID {
		return false
	}
	return len(m.Keys) == 0 || slices.ContainsFunc(m.Keys, func(k int16) bool { return slices.Contains(c.keys, k) })
}

func (m Match) passing(c *conn, d Direction) bool {
	return (m.Direction == 0 || m.Direction&d != 0) && m.connection(c)
}
