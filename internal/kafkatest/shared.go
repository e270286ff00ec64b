package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared lends real nodes and clusters to the tests of one binary, each started when the first test asks for it.
// The zero value is ready, and is meant for a variable of the test package:
//
//	var shared kafkatest.Shared
//
//	func TestMain(m *testing.M) { shared.Run(m) }
//
// The tests use topics and groups of their own ([Name]), and leave what they borrow as it was: running, its links restored.
type Shared struct {
	// Options of every node and cluster. Version is without effect: tests ask for one.
	Options Options

	mu      sync.Mutex // guards the fields, not the starts
	nodes   map[string]func() (*Node, error)
	cluster func() (*NodeCluster, error)
	skipped error
}

// Run runs the tests and stops what they started. If tests were skipped for want of a Kafka it says so in one line.
func (s *Shared) Run(m *testing.M) {
	m.Run()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, start := range s.nodes {
		if n, err := start(); err == nil {
			lament(n.Died())
			n.Close()
		}
	}
	if s.cluster != nil {
		if c, err := s.cluster(); err == nil {
			lament(c.Died())
			c.Close()
		}
	}
	if s.skipped != nil {
		fmt.Fprintln(os.Stderr, "kafkatest:", s.skipped)
	}
}

// lament tells why tests failed that found no broker.
func lament(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kafkatest:", err)
	}
}

// Kafka lends the node of a version.
func (s *Shared) Kafka(tb testing.TB, version string) *Node {
	tb.Helper()
	s.need(tb)
	n, err := s.node(version)()
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// Cluster lends a cluster of the newest version.
func (s *Shared) Cluster(tb testing.TB) *NodeCluster {
	tb.Helper()
	s.need(tb)
	c, err := s.threeNodes()()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// need is needKafka that remembers what Run has to say.
func (s *Shared) need(tb testing.TB) {
	tb.Helper()
	if err := Available(); err != nil && !errors.Is(err, errOff) {
		s.mu.Lock()
		s.skipped = err
		s.mu.Unlock()
	}
	needKafka(tb)
}

// The starts take no context of a test: the next test uses what the first one started.

func (s *Shared) node(version string) func() (*Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes == nil {
		s.nodes = map[string]func() (*Node, error){}
	}
	if s.nodes[version] == nil {
		s.nodes[version] = sync.OnceValues(func() (*Node, error) {
			return StartKafka(context.Background(), s.options(version))
		})
	}
	return s.nodes[version]
}

func (s *Shared) threeNodes() func() (*NodeCluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster == nil {
		s.cluster = sync.OnceValues(func() (*NodeCluster, error) {
			return StartCluster(context.Background(), s.options(Newest))
		})
	}
	return s.cluster
}

func (s *Shared) options(version string) Options {
	o := s.Options
	o.Version = version
	return o
}
