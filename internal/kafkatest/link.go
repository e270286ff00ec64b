package kafkatest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

// Link is a client's own way to the brokers: a proxy before each node, which the client stays behind because the nodes tell it
// the proxies' addresses. A test that gives each member a link can cut off one and not the other. As a [Broker] it is the
// broker seen through the link; its helpers go through it too.
type Link struct {
	*Remote
	proxies  map[int32]*netproxy.Proxy // by node
	clientID string                    // what tells the link's connections apart, if links share proxies
}

var _ Broker = (*Link)(nil)

// linkListener is the listener behind a link's proxy.
func linkListener(link string) string { return "LINK-" + link }

// Link is the link of that name, which [Options.Links] has to have. It panics if there is none.
func (n *Node) Link(name string) *Link { return newLink(name, []*Node{n}) }

// Link is the link of that name to all nodes, which [Options.Links] has to have. It panics if there is none.
func (c *NodeCluster) Link(name string) *Link { return newLink(name, c.nodes) }

func newLink(name string, nodes []*Node) *Link {
	l := &Link{proxies: map[int32]*netproxy.Proxy{}}
	var addrs []string
	for _, n := range nodes {
		p := n.proxies[name]
		if p == nil {
			panic(fmt.Sprintf("kafkatest: no link %q in Options.Links", name))
		}
		l.proxies[n.id] = p
		addrs = append(addrs, p.Addr())
	}
	l.Remote = Connect(addrs, nodes[0].Config)
	return l
}

// Proxy is the link's proxy before a node: for faults that hit one node or one kind of connection.
func (l *Link) Proxy(node int32) *netproxy.Proxy { return l.proxies[node] }

// Cut holds everything in both directions, silently, until [Link.Restore].
func (l *Link) Cut() { l.CutWhere(netproxy.Match{}) }

// CutWhere holds what matches.
func (l *Link) CutWhere(m netproxy.Match) {
	for _, p := range l.proxies {
		p.Cut(l.own(m))
	}
}

// Delay holds each piece of what passes for d, in each direction.
func (l *Link) Delay(d time.Duration) { l.DelayWhere(netproxy.Match{}, d) }

// DelayWhere holds each piece of what matches for d.
func (l *Link) DelayWhere(m netproxy.Match, d time.Duration) {
	for _, p := range l.proxies {
		p.Delay(l.own(m), d)
	}
}

// Reset closes the link's connections with a TCP reset. New ones are accepted.
func (l *Link) Reset() {
	for _, p := range l.proxies {
		p.Reset(l.own(netproxy.Match{}))
	}
}

// Refuse resets the link's connections and refuses new ones. Links to an in-process broker share the proxy: it hits all of them.
func (l *Link) Refuse() {
	for _, p := range l.proxies {
		p.Refuse()
	}
}

// Restore ends what Cut, CutWhere, Delay, DelayWhere and Refuse began, on the other links of an in-process broker too.
func (l *Link) Restore() error {
	var errs []error
	for _, p := range l.proxies {
		errs = append(errs, p.Restore())
	}
	return errors.Join(errs...)
}

// Conns describes the link's connections so far, the closed ones too, for each node in the order in which they were made.
func (l *Link) Conns() (out []netproxy.Conn) {
	for _, id := range slices.Sorted(maps.Keys(l.proxies)) {
		for _, c := range l.proxies[id].Conns() {
			if l.clientID == "" || c.ClientID == l.clientID {
				out = append(out, c)
			}
		}
	}
	return out
}

func (l *Link) own(m netproxy.Match) netproxy.Match {
	if l.clientID != "" {
		m.ClientID = l.clientID
	}
	return m
}

// Linked is a broker with links.
type Linked interface {
	Broker
	// Link is the client's own way to the broker. It panics if the broker was started without a link of that name.
	Link(name string) *Link
}

var (
	_ Linked = (*Node)(nil)
	_ Linked = (*NodeCluster)(nil)
	_ Linked = (*LinkedFake)(nil)
)

// linkConfig marks a client's connections, where links share proxies.
func linkConfig(base func() *sarama.Config, clientID string) func() *sarama.Config {
	return func() *sarama.Config {
		cfg := base()
		cfg.ClientID = clientID
		return cfg
	}
}
