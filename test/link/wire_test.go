package link_test

import (
	"context"
	"encoding/binary"
	"net"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	fetch      = 1
	joinGroup  = 11
	heartbeat  = 12
	leaveGroup = 13
)

// wire is one member's network: it counts requests, knows what is open, and can be cut, as a cable is: what is sent is swallowed.
type wire struct {
	mu    sync.Mutex
	cut   chan struct{} // closed while cut
	seen  map[uint16]int
	conns map[net.Conn]bool // open ones; true for those of the link
	plain net.Dialer
}

func newWire() *wire {
	return &wire{cut: make(chan struct{}), seen: map[uint16]int{}, conns: map[net.Conn]bool{}}
}

func (w *wire) Dial(network, addr string) (net.Conn, error) {
	return w.DialContext(context.Background(), network, addr)
}

func (w *wire) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if w.isCut() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c, err := w.plain.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = byLink()
	return &tap{Conn: c, wire: w}, nil
}

// byLink says that a connection is the link's own: one of its two to the coordinator, or for a question that the second did not answer
// at once. sarama opens others when it wants metadata.
func byLink() bool {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "internal/link.(*line).dial") {
			return true
		}
		if !more {
			return false
		}
	}
}

// sever cuts the network for good.
func (w *wire) sever() { close(w.cut) }

func (w *wire) isCut() bool {
	select {
	case <-w.cut:
		return true
	default:
		return false
	}
}

func (w *wire) note(b []byte) {
	if len(b) < 6 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[binary.BigEndian.Uint16(b[4:])]++
}

func (w *wire) count(key uint16) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[key]
}

// lines are the open connections of the link.
func (w *wire) lines() (open []net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, byLink := range w.conns {
		if byLink {
			open = append(open, c)
		}
	}
	return open
}

// lost counts those that are not open any more.
func (w *wire) lost(lines []net.Conn) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range lines {
		if !w.conns[c] {
			n++
		}
	}
	return n
}

// breakAll resets every connection.
func (w *wire) breakAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Close()
	}
	clear(w.conns)
}

type tap struct {
	net.Conn
	wire *wire
}

func (t *tap) Write(b []byte) (int, error) {
	if t.wire.isCut() {
		return len(b), nil
	}
	t.wire.note(b)
	return t.Conn.Write(b)
}

// Read waits in slices, so that a cut is noticed: after it nothing arrives any more.
func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if t.wire.isCut() && n > 0 {
		time.Sleep(time.Millisecond)
		return t.Read(b)
	}
	return n, err
}

func (t *tap) Close() error {
	t.wire.mu.Lock()
	delete(t.wire.conns, t.Conn)
	t.wire.mu.Unlock()
	return t.Conn.Close()
}
