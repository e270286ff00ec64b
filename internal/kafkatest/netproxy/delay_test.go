package netproxy_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

func TestDelay(t *testing.T) {
	const delay = 100 * time.Millisecond
	p := proxy(t)
	a := dial(t, p, "a")
	p.Delay(netproxy.Match{}, delay)
	start := time.Now()
	a.ask(fetch)
	if took := time.Since(start); took < 2*delay {
		t.Errorf("round trip with a delay of %v each way: %v", delay, took)
	}
}

// longer is a delay that no test waits for: what is held for so long comes after Restore.
const longer = time.Hour

func TestDelayOfOneDirection(t *testing.T) {
	for _, d := range []netproxy.Direction{netproxy.ToBroker, netproxy.ToClient} {
		heard := make(chan struct{}, 1)
		p, err := netproxy.Listen("127.0.0.1:0", hearer(t, heard))
		must(t, err)
		t.Cleanup(func() { must(t, p.Close()) })
		a := dial(t, p, "a")
		p.Delay(netproxy.Match{Direction: d}, longer)
		n := a.send(fetch)
		if d == netproxy.ToClient {
			<-heard // the other direction is as fast as ever
		}
		a.silent()
		if len(heard) > 0 {
			t.Errorf("direction %d: the broker has heard it", d)
		}
		must(t, p.Restore())
		a.receive(n)
	}
}

func TestDelayOfOneKindOfConnection(t *testing.T) {
	p := proxy(t)
	a, b := dial(t, p, "a"), dial(t, p, "a")
	b.ask(heartbeat)
	p.Delay(netproxy.Match{Keys: []int16{heartbeat}}, longer)
	n := b.send(fetch)
	a.ask(fetch)
	b.silent()
	must(t, p.Restore())
	b.receive(n)
}

// hearer is a broker that says when it has heard the first byte, and answers each byte with itself.
func hearer(t *testing.T, heard chan<- struct{}) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	// Ends when the listener is closed, or the connection.
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		first := make([]byte, 1)
		if _, err := io.ReadFull(c, first); err != nil {
			return
		}
		heard <- struct{}{}
		_, _ = c.Write(first)
		_, _ = io.Copy(c, c)
	}()
	return l.Addr().String()
}
