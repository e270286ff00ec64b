package kafkatest

import (
	"context"
	"fmt"
	"testing"

	"github.com/IBM/sarama"
)

// NodeCluster is three real nodes, each broker and controller: one of them may be down at a time. They take some 1 GB.
type NodeCluster struct {
	*Remote
	nodes []*Node
}

// clusterNodes is the least number that survives the loss of one.
const clusterNodes = 3

// Cluster starts three real nodes for the time of the test. It skips or fails where no Kafka can be started, as [Kafka] does.
func Cluster(tb testing.TB, o Options) *NodeCluster {
	tb.Helper()
	needKafka(tb)
	c, err := StartCluster(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Died(); err != nil {
			tb.Error(err)
		}
		c.Close()
	})
	return c
}

// StartCluster is [Cluster] for programs. The caller closes it; ctx bounds the start only.
func StartCluster(ctx context.Context, o Options) (*NodeCluster, error) {
	nodes, err := startNodes(ctx, o, clusterNodes)
	if err != nil {
		return nil, err
	}
	c := &NodeCluster{nodes: nodes}
	c.Remote = &Remote{addrs: c.bootstrap, reach: c.reachable, config: nodes[0].Config}
	return c, c.awaitAll(ctx)
}

// awaitAll waits until every node is in the metadata: topics cannot be replicated before.
func (c *NodeCluster) awaitAll(ctx context.Context) error {
	err := c.withClient("await the nodes", func(client sarama.Client) error {
		if len(client.Brokers()) < len(c.nodes) {
			return errNotYet
		}
		return ctx.Err()
	})
	if err != nil {
		c.Close()
	}
	return err
}

// Died says which nodes have ended that nobody stopped, and how; nil where none has.
func (c *NodeCluster) Died() error { return each(c.nodes, (*Node).Died) }

func (c *NodeCluster) bootstrap() (addrs []string) {
	for _, n := range c.nodes {
		addrs = append(addrs, n.Addr())
	}
	return addrs
}

// reachable is what the helpers use: they need not wait for a node that the test stopped.
func (c *NodeCluster) reachable() (addrs []string) {
	for _, n := range c.nodes {
		if n.up() {
			addrs = append(addrs, n.Addr())
		}
	}
	return addrs
}

// Nodes are the three, by ID.
func (c *NodeCluster) Nodes() []*Node { return c.nodes }

// Node is the one with that ID.
func (c *NodeCluster) Node(id int32) (*Node, error) {
	for _, n := range c.nodes {
		if n.id == id {
			return n, nil
		}
	}
	return nil, fmt.Errorf("no node %d", id)
}

// Coordinator is the group's coordinator in the cluster's eyes. A coordinator that went down without notice remains it for up to
// 3 s (broker.session.timeout.ms).
func (c *NodeCluster) Coordinator(group string) (n *Node, err error) {
	err = c.withClient("coordinator of "+group, func(client sarama.Client) error {
		request := &sarama.FindCoordinatorRequest{Version: 1, CoordinatorKey: group, CoordinatorType: sarama.CoordinatorGroup}
		broker := client.LeastLoadedBroker()
		if broker == nil {
			return errNotYet
		}
		resp, err := broker.FindCoordinator(request)
		if err != nil {
			return err
		}
		if err := kafkaError(resp.Err); err != nil {
			return err
		}
		n, err = c.Node(resp.Coordinator.ID())
		return err
	})
	return n, err
}

// Leader is the node that leads a partition.
func (c *NodeCluster) Leader(topic string, partition int32) (n *Node, err error) {
	err = c.withClient("leader of "+topic, func(client sarama.Client) error {
		broker, err := client.Leader(topic, partition)
		if err != nil {
			return err
		}
		n, err = c.Node(broker.ID())
		return err
	})
	return n, err
}

// MoveLeader makes the node lead a partition: it moves to the head of the replicas, which are all nodes, and is then elected. It returns
// when every node that is up says so.
func (c *NodeCluster) MoveLeader(topic string, partition int32, to *Node) error {
	replicas := []int32{to.id}
	for _, n := range c.nodes {
		if n != to {
			replicas = append(replicas, n.id)
		}
	}
	if err := c.reassign(topic, partition, replicas); err != nil {
		return err
	}
	if err := c.electPreferred(topic, partition); err != nil {
		return err
	}
	for _, n := range c.nodes {
		if !n.up() {
			continue
		}
		if err := n.awaitLeader(topic, partition, to.id); err != nil {
			return err
		}
	}
	return nil
}

func (c *NodeCluster) electPreferred(topic string, partition int32) error {
	return c.withAdmin("elect a leader of "+topic, func(a sarama.ClusterAdmin) error {
		result, err := a.ElectLeaders(sarama.PreferredElection, map[string][]int32{topic: {partition}})
		if err != nil {
			return err
		}
		if r := result[topic][partition]; r != nil && r.ErrorCode != sarama.ErrElectionNotNeeded {
			return kafkaError(r.ErrorCode)
		}
		return nil
	})
}

// awaitLeader waits until this node's metadata name the leader.
func (n *Node) awaitLeader(topic string, partition, leader int32) error {
	return n.withClient("await a leader of "+topic, func(client sarama.Client) error {
		broker, err := client.Leader(topic, partition)
		if err == nil && broker.ID() != leader {
			return errNotYet
		}
		return err
	})
}

// reassign changes the replicas of one partition and keeps those of the others, whose leaders do not move.
func (c *NodeCluster) reassign(topic string, partition int32, replicas []int32) error {
	return c.withClient("reassign "+topic, func(client sarama.Client) error {
		request := &sarama.AlterPartitionReassignmentsRequest{TimeoutMs: 10_000}
		request.AddBlock(topic, partition, replicas)
		controller, err := client.Controller()
		if err != nil {
			return err
		}
		resp, err := controller.AlterPartitionReassignments(request)
		if err != nil {
			return err
		}
		return kafkaError(resp.ErrorCode)
	})
}

// Close kills the nodes and removes their data.
func (c *NodeCluster) Close() error { return closeAll(c.nodes) }
