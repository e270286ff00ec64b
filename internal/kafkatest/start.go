package kafkatest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

// newClusterID is any 16 bytes in base64, as Kafka writes ids: a node that answers with another one is not ours.
func newClusterID() string {
	var id [16]byte
	rand.Read(id[:])
	id[0] &= 0x7f // the text never begins with a dash, which the tool would take for an option
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// startTimeout bounds a start whose context has no end of its own. A loaded machine with two cores takes a tenth of it.
const startTimeout = 2 * time.Minute

// startNodes starts that many nodes as one cluster, with other ports if somebody else was faster to take one.
func startNodes(ctx context.Context, o Options, count int) ([]*Node, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	lib, err := jars(ctx, o.version())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		nodes, err := tryNodes(ctx, o, lib, count)
		if err == nil || !errors.Is(err, errPortTaken) || ctx.Err() != nil {
			return nodes, err
		}
	}
}

func tryNodes(ctx context.Context, o Options, lib string, count int) ([]*Node, error) {
	nodes, err := layOut(o, lib, count)
	if err == nil {
		err = each(nodes, func(n *Node) error { return n.firstStart(ctx) })
	}
	if err != nil {
		return nil, errors.Join(err, closeAll(nodes))
	}
	return nodes, nil
}

func (n *Node) firstStart(ctx context.Context) error {
	if err := n.format(ctx); err != nil {
		return err
	}
	return n.Start(ctx)
}

// layOut makes the nodes' folders and properties. On an error the nodes that it made so far come with it.
func layOut(o Options, lib string, count int) (nodes []*Node, err error) {
	id, err := o.newIdentity()
	if err != nil {
		return nil, err
	}
	cluster := newClusterID()
	for i := range count {
		n, err := newNode(o, lib, int32(firstNodeID+i), cluster)
		if err != nil {
			return nodes, err
		}
		n.identity = id
		nodes = append(nodes, n)
	}
	shared := baseProperties(count)
	shared["controller.quorum.voters"] = voters(nodes)
	return nodes, each(nodes, func(n *Node) error { return n.writeProperties(shared, o) })
}

func voters(nodes []*Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, fmt.Sprintf("%d@%s", n.id, loopback(n.listener(controllerListener).port)))
	}
	return strings.Join(out, ",")
}

func newNode(o Options, lib string, id int32, cluster string) (_ *Node, err error) {
	dir, err := os.MkdirTemp("", "evenkeel-kafka-")
	if err != nil {
		return nil, err
	}
	n := &Node{id: id, cluster: cluster, version: o.version(), dir: dir, lib: lib, proxies: map[string]*netproxy.Proxy{}}
	if err := n.listen(o); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	n.Remote = Connect([]string{n.Addr()}, func() *sarama.Config { return configFor(n.version) })
	return n, nil
}

// listen picks the node's ports and starts the proxies of its links.
func (n *Node) listen(o Options) error {
	n.listeners = []listener{{name: controllerListener, protocol: "PLAINTEXT"}, {name: plainListener, protocol: "PLAINTEXT"}}
	if o.Secure {
		n.listeners = append(n.listeners, listener{name: tlsListener, protocol: "SSL"}, listener{name: saslListener, protocol: "SASL_SSL"})
	}
	first := len(n.listeners)
	for _, link := range o.Links {
		n.listeners = append(n.listeners, listener{name: linkListener(link), protocol: "PLAINTEXT"})
	}
	kept, err := keepPorts(len(n.listeners) + len(o.Links))
	if err != nil {
		return err
	}
	n.ports = kept
	for i := range n.listeners {
		n.listeners[i].port, n.listeners[i].advertised = kept.numbers[i], kept.numbers[i]
	}
	for i, link := range o.Links {
		door := &n.listeners[first+i]
		door.advertised = kept.numbers[len(n.listeners)+i]
		p, err := netproxy.Listen(loopback(door.advertised), loopback(door.port))
		if err != nil {
			return fmt.Errorf("%w: %w", errPortTaken, err)
		}
		n.proxies[link] = p
	}
	return nil
}

func (o Options) newIdentity() (*identity, error) {
	if !o.Secure {
		return nil, nil
	}
	return newIdentity()
}

func (n *Node) writeProperties(shared map[string]string, o Options) error {
	own := map[string]string{"node.id": strconv.Itoa(int(n.id)), "log.dirs": n.path("data")}
	maps.Copy(own, listenerProperties(n.listeners))
	if n.identity != nil {
		maps.Copy(own, secureProperties(n.path("server.pem"), o.ReauthAfter))
		if err := os.WriteFile(n.path("server.pem"), n.identity.keystore, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(n.path("server.properties"), propertiesFile(shared, own, o.Properties), 0o644)
}

// format makes the data folder, as Kafka wants it before the first start.
func (n *Node) format(ctx context.Context) error {
	args := []string{"kafka.tools.StorageTool", "format", "-t", n.cluster, "-c", n.path("server.properties")}
	if n.identity != nil {
		args = append(args, addUser...)
	}
	cmd, err := n.java(args...)
	if err != nil {
		return err
	}
	if out, err := child.Run(ctx, cmd, n.dir); err != nil {
		return fmt.Errorf("format the data of Kafka %s: %w\n%s", n.version, err, tail(out))
	}
	return nil
}

// each runs f for all nodes at once and joins the errors.
func each(nodes []*Node, f func(*Node) error) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		// Ends when f returns.
		wg.Go(func() { errs[i] = f(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func closeAll(nodes []*Node) error { return each(nodes, (*Node).Close) }
