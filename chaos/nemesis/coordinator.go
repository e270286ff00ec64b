package nemesis

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// offsetsTopic is where the brokers keep groups: who leads a group's partition of it is the group's coordinator.
const offsetsTopic = "__consumer_offsets"

// moveCoordinator makes another node the coordinator of a group. Nothing ends: the members have to find out.
func moveCoordinator(ctx context.Context, w *World, s Step) error {
	return w.onNode(s, func() error {
		group := w.group(s).Name
		partitions, err := w.offsetsPartitions()
		if err != nil {
			return err
		}
		from, err := w.Cluster.Coordinator(group)
		if err != nil {
			return err
		}
		to := w.otherNode(s, from)
		if err := w.Cluster.MoveLeader(offsetsTopic, partitionOf(group, partitions), to); err != nil {
			return err
		}
		if now, err := w.Cluster.Coordinator(group); err != nil || now != to {
			return fmt.Errorf("the coordinator of %s does not move to node %d: %w", group, to.ID(), err)
		}
		sleep(ctx, s.Lasts)
		return nil
	})
}

// otherNode is one of the nodes but that one, by the lot.
func (w *World) otherNode(s Step, but *kafkatest.Node) *kafkatest.Node {
	if n := w.node(s); n != but {
		return n
	}
	s.Lot++
	return w.node(s)
}

func (w *World) offsetsPartitions() (int32, error) {
	client, err := sarama.NewClient(w.Cluster.Addrs(), w.Cluster.Config())
	if err != nil {
		return 0, err
	}
	defer client.Close()
	list, err := client.Partitions(offsetsTopic)
	return int32(len(list)), err
}

// partitionOf is where a group is kept: Java's hash of its name, made positive as Kafka's Utils.abs does.
func partitionOf(group string, partitions int32) int32 {
	var h int32
	for _, c := range []byte(group) { // the names of the laboratory are ASCII
		h = 31*h + int32(c)
	}
	return max(h, -h, 0) % partitions // the least int32 is its own negative
}
