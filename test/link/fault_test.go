package link_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// B42: the coordinator moves, then its node is killed. The member's session and claims survive, and commits land on the new coordinator.
func TestCoordinatorMovesAndDies(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, s sarama.BalanceStrategy) {
		c := kafkatest.Cluster(t, kafkatest.Options{})
		name := topic(t, c, 3)
		m := newMember(t, c, name, options{strategy: s, topics: []string{name}})
		eventually(t, "it holds all", func() bool { return m.holds() == 3 })
		session := m.session
		node := moveCoordinator(t, c, name)
		eventually(t, "the new coordinator accepts a commit", func() bool { return m.tryCommit(name) })
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		eventually(t, "a commit is accepted", func() bool { return m.tryCommit(name) })
		t.Logf("commits accepted again after %s", time.Since(from))
		beats := m.wire.count(heartbeat)
		eventually(t, "heartbeats go on", func() bool { return m.wire.count(heartbeat) > beats+5 })
		if err := context.Cause(session.Context()); err != nil {
			t.Errorf("the session ended: %v", err)
		}
		if n, ended := state(m, func() int { return m.sessions }), state(m, func() int { return m.ended }); n != 1 || ended != 0 {
			t.Errorf("%d sessions, %d claims ended: %v", n, ended, state(m, func() []error { return m.errs }))
		}
	})
}

// moveCoordinator makes another node the group's coordinator and returns it.
func moveCoordinator(t *testing.T, c *kafkatest.NodeCluster, group string) *kafkatest.Node {
	t.Helper()
	old, err := c.Coordinator(group)
	if err != nil {
		t.Fatal(err)
	}
	nodes := c.Nodes()
	next := nodes[(slices.Index(nodes, old)+1)%len(nodes)]
	if err := c.MoveLeader("__consumer_offsets", offsetsPartition(group), next); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the coordinator moved", func() bool { n, err := c.Coordinator(group); return err == nil && n == next })
	return next
}

// offsetsPartition is where a group's state is kept: by the hash of a Java string, over the five partitions of our brokers.
func offsetsPartition(group string) int32 {
	var hash int32
	for _, c := range group {
		hash = 31*hash + c
	}
	return max(hash, -hash) % 5
}

// TestBrokenConnections: all connections of a member are reset, again and again. Each is dialled anew, and the session survives.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	b := shared.Kafka(t, kafkatest.Newest)
	name := topic(t, b, 3)
	m := newMember(t, b, name, options{strategy: sarama.NewBalanceStrategyCooperativeSticky(), topics: []string{name}})
	eventually(t, "it holds all", func() bool { return m.holds() == 3 })
	for range 10 {
		m.wire.breakAll()
		beats := m.wire.count(heartbeat)
		eventually(t, "a commit is accepted", func() bool { code, err := m.commit(t.Context(), 0, 1); return err == nil && code == sarama.ErrNoError })
		eventually(t, "a heartbeat is sent", func() bool { return m.wire.count(heartbeat) > beats+1 })
	}
	if n := state(m, func() int { return m.sessions }); n != 1 {
		t.Errorf("%d sessions: %v", n, state(m, func() []error { return m.errs }))
	}
}

// TestStopWithNobodyReachable: the network is cut while tasks run. Consume, leaving and closing take a few seconds in all; what sarama
// alone would need is minutes.
func TestStopWithNobodyReachable(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"at once": 0, "after the session's end": 12 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := shared.Kafka(t, kafkatest.Newest)
			name := topic(t, b, 3)
			m := newMember(t, b, name, options{strategy: sarama.NewBalanceStrategyCooperativeSticky(), topics: []string{name}})
			eventually(t, "it holds all", func() bool { return m.holds() == 3 })
			m.wire.sever()
			time.Sleep(wait)
			from := time.Now()
			_ = m.stop()
			t.Logf("stopped after %s", time.Since(from))
		})
	}
}

// B33, E21: a topic of one member is missing, then there, then deleted. The group goes on with what there is.
func TestMissingTopic(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, s sarama.BalanceStrategy) {
		b := shared.Kafka(t, kafkatest.Newest)
		there, other := topic(t, b, 3), kafkatest.Name(t)
		news := make(chan bool, 100)
		o := options{strategy: s, topics: []string{there}, onMissing: func(topic string, missing bool) {
			if topic == other {
				news <- missing
			}
		}}
		leader := newMember(t, b, there, o)
		eventually(t, "the leader holds all", func() bool { return leader.holds() == 3 })
		two := o
		two.topics = []string{there, other}
		m := newMember(t, b, there, two)
		eventually(t, "they share", func() bool { return leader.holds() > 0 && m.holds() > 0 && leader.holds()+m.holds() == 3 })
		if missing := wait(t, "news", news); !missing {
			t.Error("told that it is there")
		}

		if err := b.CreateTopic(other, 1); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the topic is read", func() bool {
			if err := b.Produce(other, 0, "one"); err != nil {
				t.Fatal(err)
			}
			return state(m, func() int { return m.read }) > 0
		})
		if err := b.DeleteTopic(other); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is told", func() bool { return <-news })
		before := state(leader, func() int { return leader.read }) + state(m, func() int { return m.read })
		for p := range int32(3) {
			if err := b.Produce(there, p, "after"); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "the rest is read", func() bool {
			return state(leader, func() int { return leader.read })+state(m, func() int { return m.read }) >= before+3
		})
		t.Logf("errors: %v %v", state(leader, func() []error { return leader.errs }), state(m, func() []error { return m.errs }))
	})
}
