package netproxy_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

// The API keys that the tests use.
const (
	fetch     = 1
	heartbeat = 12
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// echo is a broker that answers each byte with itself.
func echo(t *testing.T) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	// Ends when the listener is closed.
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// Ends when the client closes.
			wg.Go(func() { _, _ = io.Copy(c, c); c.Close() })
		}
	})
	return l.Addr().String()
}

func proxy(t *testing.T) *netproxy.Proxy {
	p, err := netproxy.Listen("127.0.0.1:0", echo(t))
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

type client struct {
	net.Conn
	t  *testing.T
	id string
}

func dial(t *testing.T, p *netproxy.Proxy, id string) *client {
	c, err := net.Dial("tcp", p.Addr())
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return &client{Conn: c, t: t, id: id}
}

// request is a frame with a header as Kafka's clients send it.
func request(key int16, id string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(10+len(id)+3))
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = append(b, 0, 2, 0, 0, 0, 9)
	b = binary.BigEndian.AppendUint16(b, uint16(len(id)))
	return append(append(b, id...), 'e', 'n', 'd')
}

func (c *client) send(key int16) (length int) {
	n, err := c.Write(request(key, c.id))
	must(c.t, err)
	return n
}

// ask sends a request and reads the answer.
func (c *client) ask(key int16) {
	c.t.Helper()
	c.receive(c.send(key))
}

func (c *client) receive(length int) {
	c.t.Helper()
	must(c.t, c.SetReadDeadline(time.Now().Add(30*time.Second))) // so that a fault of the proxy is a failure and not a hang
	_, err := io.ReadFull(c, make([]byte, length))
	must(c.t, err)
}

// silent asserts that nothing comes: a mistake here makes the test pass that should fail, never the other way round.
func (c *client) silent() {
	c.t.Helper()
	must(c.t, c.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("read %d bytes, %v, from a cut connection", n, err)
	}
	must(c.t, c.SetReadDeadline(time.Time{}))
}

func TestCutHoldsUntilRestore(t *testing.T) {
	for _, d := range []netproxy.Direction{0, netproxy.ToBroker, netproxy.ToClient} {
		p := proxy(t)
		before := dial(t, p, "a")
		before.ask(fetch)
		p.Cut(netproxy.Match{Direction: d})
		during := dial(t, p, "a")
		n, m := before.send(fetch), during.send(fetch)
		before.silent()
		during.silent()
		must(t, p.Restore())
		before.receive(n)
		during.receive(m)
	}
}

func TestCutOfOneClient(t *testing.T) {
	p := proxy(t)
	a, b := dial(t, p, "a"), dial(t, p, "b")
	a.ask(fetch)
	p.Cut(netproxy.Match{ClientID: "a"})
	a.send(fetch)
	a.silent()
	b.ask(fetch)
	again := dial(t, p, "a")
	again.send(fetch)
	again.silent()
}

func TestCutOfOneKindOfConnection(t *testing.T) {
	p := proxy(t)
	a := dial(t, p, "a")
	p.Cut(netproxy.Match{Keys: []int16{heartbeat}})
	a.ask(fetch)
	a.send(heartbeat)
	a.silent()
}

func TestResetOfOneClient(t *testing.T) {
	p := proxy(t)
	a, b := dial(t, p, "a"), dial(t, p, "b")
	a.ask(fetch)
	b.ask(fetch)
	p.Reset(netproxy.Match{ClientID: "a"})
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Error("read from a connection that was reset:", err)
	}
	b.ask(fetch)
	dial(t, p, "a").ask(fetch)
}

func TestRefuse(t *testing.T) {
	p := proxy(t)
	a := dial(t, p, "a")
	a.ask(fetch)
	p.Refuse()
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Error("read from a refused connection:", err)
	}
	if _, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error("dial of a proxy that refuses:", err)
	}
	must(t, p.Restore())
	dial(t, p, "a").ask(fetch)
}

func TestConnsTellClientsAndKeys(t *testing.T) {
	p := proxy(t)
	a := dial(t, p, "a")
	a.ask(fetch)
	a.ask(heartbeat)
	a.ask(fetch)
	dial(t, p, "").ask(heartbeat)
	a.Close()
	for p.Conns()[0].Open {
		time.Sleep(time.Millisecond)
	}
	want := []netproxy.Conn{
		{ClientID: "a", Keys: []int16{fetch, heartbeat}, Counts: []int{2, 1}},
		{Keys: []int16{heartbeat}, Counts: []int{1}, Open: true},
	}
	got := p.Conns()
	if !slices.EqualFunc(got, want, func(g, w netproxy.Conn) bool {
		return g.ClientID == w.ClientID && slices.Equal(g.Keys, w.Keys) && slices.Equal(g.Counts, w.Counts) && g.Open == w.Open
	}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestHeadersAreFoundHoweverTheyAreSplit(t *testing.T) {
	stream := slices.Concat(request(3, "first"), request(fetch, ""), request(heartbeat, "ignored"))
	for size := 1; size <= len(stream); size++ {
		p := proxy(t)
		a := dial(t, p, "")
		for piece := range slices.Chunk(stream, size) {
			_, err := a.Write(piece)
			must(t, err)
			a.receive(len(piece))
		}
		if c := p.Conns()[0]; c.ClientID != "first" || !slices.Equal(c.Keys, []int16{3, fetch, heartbeat}) {
			t.Errorf("in pieces of %d: %+v", size, c)
		}
		a.Close()
	}
}

func TestAlienStreamPasses(t *testing.T) {
	p := proxy(t)
	a := dial(t, p, "")
	hello := []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS client begins so")
	_, err := a.Write(hello)
	must(t, err)
	a.receive(len(hello))
	if c := p.Conns()[0]; len(c.Keys) > 0 {
		t.Errorf("found requests in TLS: %+v", c)
	}
}

// reader is a broker that answers each byte with itself and says at the end of its only connection how many there were.
func reader(t *testing.T, got chan<- int64) (addr string) {
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
		var n counter
		_, _ = io.Copy(io.MultiWriter(&n, c), c)
		got <- int64(n)
	}()
	return l.Addr().String()
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// TCP goes on sending what a closed socket has been given, and takes it back when that is reset.
func TestAResetTakesBackWhatIsHeld(t *testing.T) {
	for _, reset := range []bool{false, true} {
		got := make(chan int64, 1)
		p, err := netproxy.Listen("127.0.0.1:0", reader(t, got))
		must(t, err)
		t.Cleanup(func() { must(t, p.Close()) })
		c := dial(t, p, "a")
		passed := c.send(fetch)
		c.receive(passed)
		p.Cut(netproxy.Match{})
		held := c.send(heartbeat)
		leave(t, p, c, reset)
		must(t, p.Restore())
		want := int64(passed)
		if !reset {
			want += int64(held)
		}
		if n := <-got; n != want {
			t.Errorf("reset %v: the broker got %d bytes, want %d", reset, n, want)
		}
	}
}

// A connection that is made during a cut has not reached the broker yet.
func TestAResetDuringACutReachesNoBroker(t *testing.T) {
	got := make(chan int64, 1)
	p, err := netproxy.Listen("127.0.0.1:0", reader(t, got))
	must(t, err)
	p.Cut(netproxy.Match{})
	c := dial(t, p, "a")
	c.send(fetch)
	leave(t, p, c, true)
	must(t, p.Restore())
	must(t, p.Close())
	select {
	case n := <-got:
		t.Errorf("the broker got %d bytes", n)
	default:
	}
}

// leave closes a client's end. A reset is heard at once.
func leave(t *testing.T, p *netproxy.Proxy, c *client, reset bool) {
	if reset {
		must(t, c.Conn.(*net.TCPConn).SetLinger(0))
	}
	must(t, c.Close())
	for end := time.Now().Add(30 * time.Second); reset; time.Sleep(time.Millisecond) {
		if conns := p.Conns(); len(conns) == 1 && !conns[0].Open {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the reset was not heard")
		}
	}
}
