package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const (
	shortest  = time.Second
	longest   = 3 * time.Second
	precision = 10 * time.Millisecond
	// leeway is what the time limit leaves for joins, rebalances and the stop.
	leeway = 18 * time.Second
)

// work says how long each task takes, by partition and offset.
type work [][]time.Duration

// makeWork deals the messages out to the partitions. The same seed makes the same work.
func makeWork(o options) work {
	dice := rand.New(rand.NewPCG(o.seed, 0))
	w := make(work, o.partitions)
	for i := range o.messages {
		d := shortest + time.Duration(dice.Int64N(int64(longest-shortest)+1))
		p := i % o.partitions
		w[p] = append(w[p], d.Round(precision))
	}
	return w
}

// timeLimit is -limit, or what should be plenty for this work.
func (o options) timeLimit(w work) time.Duration {
	if o.limit > 0 {
		return o.limit
	}
	fullest := time.Duration(0)
	for _, tasks := range w {
		sum := time.Duration(0)
		for _, d := range tasks {
			sum += d
		}
		fullest = max(fullest, sum)
	}
	return fullest + leeway
}

// cluster is the broker, and the names that this run uses there.
type cluster struct {
	kafkatest.Broker
	topic, group string
	lent         bool // it goes on without us
}

// open starts a broker, or finds the one that was asked for.
func open(o options) (*cluster, error) {
	name := fmt.Sprintf("evenkeel-quickstart-%08x", rand.Uint32())
	c := &cluster{topic: name, group: name, lent: o.brokers != ""}
	if !c.lent {
		fake, err := kafkatest.StartFake()
		c.Broker = fake
		return c, err
	}
	addrs := strings.Split(o.brokers, ",")
	c.Broker = kafkatest.Connect(addrs, nil)
	return c, reach(addrs)
}

// reach fails soon where no broker answers.
func reach(addrs []string) error {
	cfg := sarama.NewConfig()
	cfg.Net.DialTimeout, cfg.Metadata.Retry.Max = 5*time.Second, 0
	client, err := sarama.NewClient(addrs, cfg)
	if err != nil {
		return fmt.Errorf("brokers %v: %w", addrs, err)
	}
	return client.Close()
}

// fill creates the topic and writes the messages. The value of each one is how long its task takes.
func (c *cluster) fill(w work) error {
	if err := c.CreateTopic(c.topic, int32(len(w))); err != nil {
		return err
	}
	for p, tasks := range w {
		values := make([]string, len(tasks))
		for i, d := range tasks {
			values[i] = d.String()
		}
		if err := c.Produce(c.topic, int32(p), values...); err != nil {
			return err
		}
	}
	return nil
}

// committed asks the broker what the group has committed: the offset after the last message that is done, -1 for none.
func (c *cluster) committed(partition int32) (int64, error) {
	offset, _, err := c.Committed(c.group, c.topic, partition)
	return offset, err
}

// close leaves nothing behind on a cluster that is not ours.
func (c *cluster) close() error {
	if !c.lent {
		return c.Close()
	}
	if err := errors.Join(c.DeleteGroup(c.group), c.DeleteTopic(c.topic)); err != nil {
		return fmt.Errorf("delete topic and group %s by hand: %w", c.topic, err)
	}
	return nil
}
