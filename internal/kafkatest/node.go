package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/netproxy"
)

// Node is one real Kafka node, broker and controller in one process. Its methods are safe for concurrent use.
type Node struct {
	*Remote
	id        int32
	cluster   string // id of the cluster
	ports     *ports
	version   string
	dir       string // properties, data, log
	lib       string // jars
	dump      string // where the node is to leave its archive of classes, if it is
	listeners []listener
	proxies   map[string]*netproxy.Proxy // by link
	identity  *identity                  // with Options.Secure, the same for all nodes of a cluster

	mu     sync.Mutex     // held while the process changes
	proc   *child.Process // nil when stopped
	paused bool
}

// Kafka starts one real node for the time of the test, which takes some 4 s; see [Shared] for tests that can share one.
// Where no Kafka can be started it skips the test, or fails it if [EnvMode] is "require".
func Kafka(tb testing.TB, o Options) *Node {
	tb.Helper()
	needKafka(tb)
	n, err := StartKafka(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := n.Died(); err != nil {
			tb.Error(err)
		}
		n.Close()
	})
	return n
}

// needKafka skips or fails a test on a machine that cannot run Kafka.
func needKafka(tb testing.TB) {
	tb.Helper()
	switch err := Available(); {
	case err == nil:
	case Required():
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
}

// StartKafka is [Kafka] for programs. The caller closes the node; ctx bounds the start only.
func StartKafka(ctx context.Context, o Options) (*Node, error) {
	nodes, err := startNodes(ctx, o, 1)
	if err != nil {
		return nil, err
	}
	return nodes[0], nil
}

// ID is the node's number in metadata answers.
func (n *Node) ID() int32 { return n.id }

// Addr is the node's plain listener.
func (n *Node) Addr() string { return loopback(n.listener(plainListener).advertised) }

// PID is the process id, or 0 when the node is down.
func (n *Node) PID() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil || n.proc.Ended() {
		return 0
	}
	return n.proc.PID()
}

// Dir holds the node's properties, data and log until [Node.Close].
func (n *Node) Dir() string { return n.dir }

// Log is what the node's process wrote so far, of all its starts.
func (n *Node) Log() ([]byte, error) { return os.ReadFile(n.path("node.log")) }

func (n *Node) path(name string) string { return filepath.Join(n.dir, name) }

func (n *Node) listener(name string) listener {
	for _, l := range n.listeners {
		if l.name == name {
			return l
		}
	}
	panic("no listener " + name)
}

// configFor is a sarama configuration for a Kafka version: of its own protocol level, or the highest that sarama knows.
func configFor(version string) *sarama.Config {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.MaxVersion
	if v, err := sarama.ParseKafkaVersion(version); err == nil && sarama.MaxVersion.IsAtLeast(v) {
		cfg.Version = v
	}
	return cfg
}

// Start brings a stopped or killed node back, on the same ports and data, and returns when it answers.
func (n *Node) Start(ctx context.Context) error {
	if err := n.launch(); err != nil {
		return err
	}
	return n.await(ctx)
}

// launch starts the process and does not wait for it to answer.
func (n *Node) launch() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil {
		return fmt.Errorf("node %d runs: stop it first", n.id)
	}
	log, err := os.OpenFile(n.path("node.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd, err := n.java("kafka.Kafka", n.path("server.properties"))
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	n.proc, err = child.Start(cmd, n.dir)
	n.paused = false
	return err
}

// java is a command with Kafka's jars: short-lived in tests, so the second compiler is not worth its time.
func (n *Node) java(args ...string) (*exec.Cmd, error) {
	path, err := java()
	if err != nil {
		return nil, err
	}
	flags := []string{
		"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaConfig=warn",
		"-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config.AbstractConfig=warn",
		"-cp", filepath.Join(n.lib, "*"),
	}
	flags = append(flags, n.archiveFlags()...)
	cmd := exec.Command(path, append(flags, args...)...)
	cmd.Dir = n.dir
	return cmd, nil
}

// await returns when the node answers a metadata request with itself in it.
func (n *Node) await(ctx context.Context) error {
	for {
		err := n.answers()
		if err == nil {
			return nil
		}
		if n.PID() == 0 {
			return n.startError(errors.New("the process ended"))
		}
		select {
		case <-ctx.Done():
			return n.startError(fmt.Errorf("%w: %w", context.Cause(ctx), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (n *Node) answers() error {
	conn, err := net.DialTimeout("tcp", loopback(n.listener(plainListener).port), time.Second)
	if err != nil {
		return err
	}
	conn.Close()
	cfg := n.helperConfig()
	broker := sarama.NewBroker(loopback(n.listener(plainListener).port))
	if err := broker.Open(cfg); err != nil {
		return err
	}
	defer broker.Close()
	metadata, err := broker.GetMetadata(&sarama.MetadataRequest{Version: 5})
	if err != nil {
		return err
	}
	if id := metadata.ClusterID; id == nil || *id != n.cluster {
		return fmt.Errorf("what answers on %s is not of this cluster", broker.Addr())
	}
	for _, b := range metadata.Brokers {
		if b.ID() == n.id {
			return nil
		}
	}
	return fmt.Errorf("node %d is not in the metadata yet", n.id)
}

// errPortTaken means that somebody took a port between our look and the node's.
var errPortTaken = errors.New("a port was taken meanwhile")

func (n *Node) startError(err error) error {
	log, _ := n.Log()
	if bytes.Contains(log, []byte("Address already in use")) || bytes.Contains(log, []byte("BindException")) {
		err = fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return fmt.Errorf("start Kafka %s, node %s: %w\n%s", n.version, strconv.Itoa(int(n.id)), err, tail(log))
}
