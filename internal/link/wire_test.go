package link_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"time"
)

// wire is the network between a Link and its brokers. It counts, holds back and breaks.
type wire struct {
	mu     sync.Mutex
	holes  map[string]bool            // addresses that swallow a dial
	gates  map[uint16][]chan struct{} // requests wait here before they are sent
	seen   map[uint16]int             // requests written, by key
	dialed []time.Time
	conns  map[*tap]bool
	resets int // sockets that were told to close with a reset
	plain  net.Dialer
}

func newWire() *wire {
	return &wire{holes: map[string]bool{}, gates: map[uint16][]chan struct{}{}, seen: map[uint16]int{}, conns: map[*tap]bool{}}
}

func (w *wire) Dial(network, addr string) (net.Conn, error) {
	return w.DialContext(context.Background(), network, addr)
}

func (w *wire) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, time.Now())
	hole := w.holes[addr] || w.holes["*"]
	w.mu.Unlock()
	if hole {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c, err := w.plain.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t := &tap{Conn: c, wire: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[t] = true
	return t, nil
}

// hole makes an address, or "*" for all, swallow what is sent to it: new connections and those that there are.
func (w *wire) hole(addr string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holes[addr] = true
}

func (w *wire) swallows(addr string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holes[addr] || w.holes["*"]
}

// hold keeps the next request of a kind on its way until release is called, or the test ends. Later ones pass.
func (w *wire) hold(t *testing.T, key uint16) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gates[key] = append(w.gates[key], gate)
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

// note counts a request and takes the gate that it has to wait at, nil for none.
func (w *wire) note(key uint16) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[key]++
	gates := w.gates[key]
	if len(gates) == 0 {
		return nil
	}
	w.gates[key] = gates[1:]
	return gates[0]
}

func (w *wire) count(key uint16) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[key]
}

func (w *wire) dials() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Time(nil), w.dialed...)
}

// open counts the sockets that are not closed.
func (w *wire) open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

// breakAll closes every socket, as a reset of the network does.
func (w *wire) breakAll() {
	w.mu.Lock()
	conns := w.conns
	w.conns = map[*tap]bool{}
	w.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}

type tap struct {
	net.Conn
	wire *wire
}

// Write sends a request on, at once or when its gate opens.
func (t *tap) Write(b []byte) (int, error) {
	if t.wire.swallows(t.RemoteAddr().String()) {
		return len(b), nil
	}
	var gate chan struct{}
	if len(b) >= 6 {
		gate = t.wire.note(binary.BigEndian.Uint16(b[4:]))
	}
	if gate == nil {
		return t.Conn.Write(b)
	}
	late := bytes.Clone(b)
	// Ends when the test opens the gate.
	go func() {
		<-gate
		_ = t.SetWriteDeadline(time.Time{}) // that of the request is over
		_, _ = t.Conn.Write(late)
	}()
	return len(b), nil
}

func (t *tap) SetLinger(sec int) error {
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	if sec == 0 {
		t.wire.resets++
	}
	return t.Conn.(*net.TCPConn).SetLinger(sec)
}

func (w *wire) reset() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.resets
}

func (t *tap) Close() error {
	t.wire.mu.Lock()
	delete(t.wire.conns, t)
	t.wire.mu.Unlock()
	return t.Conn.Close()
}
