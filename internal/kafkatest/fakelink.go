package kafkatest

import (
	"errors"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

// LinkedFake is a [FakeBroker] behind a proxy. Its links share the proxy, as it knows one address only: they are told apart by
// the client ID in their configurations, which must be kept.
type LinkedFake struct {
	*FakeBroker
	proxies map[int32]*netproxy.Proxy
	ports   []*ports
}

// FakeLinked starts an in-process broker that has any number of links, for the time of the test.
func FakeLinked(tb testing.TB, opts ...kfake.Opt) *LinkedFake {
	tb.Helper()
	b, err := StartFakeLinked(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { b.Close() })
	return b
}

// StartFakeLinked is [FakeLinked] for programs. The caller closes it.
func StartFakeLinked(opts ...kfake.Opt) (*LinkedFake, error) {
	b := &LinkedFake{proxies: map[int32]*netproxy.Proxy{}}
	fake, err := StartFake(append(opts, kfake.ListenFn(b.listen))...)
	if err != nil {
		return nil, errors.Join(err, b.closeProxies())
	}
	b.FakeBroker = fake
	return b, nil
}

// listen gives the in-process broker a listener that has the proxy's address. It is called for one node after the other.
func (b *LinkedFake) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	port, err := keepPorts(1)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	b.ports = append(b.ports, port)
	p, err := netproxy.Listen(loopback(port.numbers[0]), l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	b.proxies[int32(len(b.proxies))] = p
	return proxied{Listener: l, proxy: p}, nil
}

// proxied is a listener that says it listens where its proxy does.
type proxied struct {
	net.Listener
	proxy *netproxy.Proxy
}

func (l proxied) Addr() net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", l.proxy.Addr())
	if err != nil {
		return l.Listener.Addr()
	}
	return addr
}

// Link implements [Linked]. Any name will do.
func (b *LinkedFake) Link(name string) *Link {
	clientID := "link-" + name
	return &Link{proxies: b.proxies, clientID: clientID, Remote: Connect(b.Addrs(), linkConfig(b.Config, clientID))}
}

// Close stops the broker and its proxies.
func (b *LinkedFake) Close() error { return errors.Join(b.FakeBroker.Close(), b.closeProxies()) }

func (b *LinkedFake) closeProxies() error {
	var errs []error
	for _, p := range b.proxies {
		errs = append(errs, p.Close())
	}
	for _, p := range b.ports {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}
