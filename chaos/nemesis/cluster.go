package nemesis

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// startLimit bounds the start of a node.
const startLimit = time.Minute

// onNode runs a fault of a node, or of the whole cluster, while no other one is there.
func (w *World) onNode(s Step, f func() error) error {
	if !s.take(&w.nodes) {
		return errBusy
	}
	defer w.nodes.Unlock()
	return w.during(s, "", f)
}

func start(n *kafkatest.Node) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit) // also when the run has ended meanwhile
	defer cancel()
	return n.Start(ctx)
}

func killCoordinator(ctx context.Context, w *World, s Step) error {
	return w.onNode(s, func() error {
		n, err := w.Cluster.Coordinator(w.group(s).Name)
		if err != nil {
			return err
		}
		err = n.Kill()
		sleep(ctx, s.Lasts)
		return errors.Join(err, start(n))
	})
}

func (w *World) node(s Step) *kafkatest.Node {
	nodes := w.Cluster.Nodes()
	return nodes[s.Lot%uint64(len(nodes))]
}

func pauseNode(ctx context.Context, w *World, s Step) error {
	return w.onNode(s, func() error {
		n := w.node(s)
		err := n.Pause()
		sleep(ctx, s.Lasts)
		return errors.Join(err, n.Resume())
	})
}

func rollBrokers(ctx context.Context, w *World, s Step) error {
	return w.onNode(s, func() error {
		var errs []error
		for _, n := range w.Cluster.Nodes() {
			stop, cancel := context.WithTimeout(context.Background(), startLimit)
			errs = append(errs, n.Stop(stop), start(n))
			cancel()
			sleep(ctx, s.Lasts/6)
		}
		return errors.Join(errs...)
	})
}

// moveLeaders moves half of a topic's partitions by one node.
func moveLeaders(ctx context.Context, w *World, s Step) error {
	return w.onNode(s, func() error {
		topic, nodes := w.group(s).Name, w.Cluster.Nodes()
		for p := range w.Book.Header.Groups[0].Partitions / 2 {
			to := nodes[(s.Lot+uint64(p))%uint64(len(nodes))]
			if err := w.Cluster.MoveLeader(topic, p, to); err != nil {
				return err
			}
		}
		sleep(ctx, s.Lasts)
		return nil
	})
}

// refuseCommits asks for more replicas than there are, so that nothing can be stored in the offsets topic.
func refuseCommits(ctx context.Context, w *World, s Step) error {
	return w.onNode(s, func() error {
		err := w.wantReplicas("4")
		sleep(ctx, s.Lasts)
		return errors.Join(err, w.wantReplicas("2")) // also after an error: it may have been applied
	})
}

func (w *World) wantReplicas(n string) error {
	return w.admin(func(a sarama.ClusterAdmin) error {
		return a.IncrementalAlterConfig(sarama.TopicResource, offsetsTopic, map[string]sarama.IncrementalAlterConfigsEntry{
			"min.insync.replicas": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &n},
		}, false)
	})
}

// admin asks until it succeeds, for at most a minute: a controller may be about to move.
func (w *World) admin(f func(sarama.ClusterAdmin) error) (err error) {
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = w.askAdmin(f); err == nil {
			return nil
		}
	}
	return err
}

func (w *World) askAdmin(f func(sarama.ClusterAdmin) error) error {
	a, err := sarama.NewClusterAdmin(w.Cluster.Addrs(), w.Cluster.Config())
	if err != nil {
		return err
	}
	defer a.Close()
	return f(a)
}

// mostPartitions is when a topic has grown enough.
const mostPartitions = 16

func addPartitions(ctx context.Context, w *World, s Step) error {
	g := w.group(s)
	if g.PartitionsAfter(w.Book.Events()) >= mostPartitions {
		return errBusy
	}
	return w.onNode(s, func() error {
		grown := g.PartitionsAfter(w.Book.Events()) + 2 // nobody else adds any meanwhile
		if err := w.Cluster.AddPartitions(g.Name, grown); err != nil {
			return err
		}
		w.Book.Add(ledger.Event{Kind: ledger.Grown, Group: g.Name, Partition: grown})
		sleep(ctx, s.Lasts)
		return nil
	})
}
