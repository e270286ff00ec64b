package ownership_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// request is the API key of a request.
type request uint16

const (
	offsetCommit request = 8
	joinGroup    request = 11
	heartbeat    request = 12
	syncGroup    request = 14
	guard        request = 1<<15 | heartbeat // a heartbeat on a connection on which nobody joins: one of the lease
)

// wire is one member's network, on which requests are lost or late by their kind.
type wire struct {
	mu    sync.Mutex
	lost  map[request]bool // they do not arrive
	held  map[request]bool // they arrive when they are let go, and before all that is sent after them on the connection
	deaf  map[request]bool // they arrive, and no answer comes
	fatal map[request]bool // the connection dies of them
	sent  map[request]int
	conns []*tap
}

func newWire() *wire {
	return &wire{lost: map[request]bool{}, held: map[request]bool{}, deaf: map[request]bool{}, fatal: map[request]bool{}, sent: map[request]int{}}
}

// member is a member's way through the wire.
func (w *wire) member(g *kit.Group) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Sarama = g.Broker.Config()
		c.Sarama.Net.Proxy.Enable, c.Sarama.Net.Proxy.Dialer = true, w
	}
}

func (w *wire) lose(r request)   { w.set(w.lost, r) }
func (w *wire) hold(r request)   { w.set(w.held, r) }
func (w *wire) deafen(r request) { w.set(w.deaf, r) }

// kill makes connections die of a kind of requests. A heartbeat on a connection that is made meanwhile is one of sarama's: that of the lease lives.
func (w *wire) kill(r request) { w.set(w.fatal, r) }

func (w *wire) set(rule map[request]bool, r request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rule[r] = true
}

// pass lets requests of a kind through, also those that are held.
func (w *wire) pass(r request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lost, r)
	delete(w.held, r)
	delete(w.deaf, r)
	delete(w.fatal, r)
	for _, c := range w.conns {
		c.flushLocked()
	}
}

// cut closes all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Conn.Close()
	}
}

// count is how many requests of a kind the member has sent, whether or not they have arrived.
func (w *wire) count(r request) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent[r]
}

// Dial implements sarama's proxy.Dialer.
func (w *wire) Dial(network, addr string) (net.Conn, error) {
	c, err := net.Dial(network, addr)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &tap{Conn: c, wire: w, joins: w.fatal[heartbeat]}
	w.conns = append(w.conns, t)
	return t, nil
}

// tap is one connection. Its state is under the wire's lock.
type tap struct {
	net.Conn
	wire  *wire
	joins bool // it is the one on which the member joins
	deaf  bool
	queue []frame
}

type frame struct {
	kind  request
	bytes []byte
}

// Write sees one whole request.
func (c *tap) Write(b []byte) (int, error) {
	if !c.arrives(b) {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c *tap) arrives(b []byte) bool {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	k := c.kindLocked(b)
	w.sent[k]++
	if w.fatal[k] {
		_ = c.Conn.Close() // what is written then fails
		return true
	}
	c.deaf = c.deaf || w.deaf[k]
	if w.held[k] || len(c.queue) > 0 {
		c.queue = append(c.queue, frame{k, bytes.Clone(b)})
		return false
	}
	return !w.lost[k]
}

func (c *tap) kindLocked(b []byte) request {
	if len(b) < 6 {
		return 0
	}
	k := request(binary.BigEndian.Uint16(b[4:]))
	c.joins = c.joins || k == joinGroup
	if k == heartbeat && !c.joins {
		return guard
	}
	return k
}

// flushLocked sends what is no longer held. What the member has given up by then is on a closed connection, and lost.
func (c *tap) flushLocked() {
	for len(c.queue) > 0 && !c.wire.held[c.queue[0].kind] {
		_, _ = c.Conn.Write(c.queue[0].bytes)
		c.queue = c.queue[1:]
	}
}

// Read drops what comes to a deaf connection.
func (c *tap) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.isDeaf() {
			return n, err
		}
	}
}

func (c *tap) isDeaf() bool {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	return c.deaf
}
