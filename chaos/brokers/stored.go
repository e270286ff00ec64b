// Package brokers is the brokers' side of the laboratory: what they are sent, and what they have stored.
package brokers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// offsetsTopic is where brokers keep the commits of all groups: each one that was accepted is a record, in the order in which they
// were, also where its answer never arrived.
const offsetsTopic = "__consumer_offsets"

// Commits reads the log of the offsets into a book.
type Commits struct {
	book     *ledger.Book
	groups   map[string]bool
	client   sarama.Client
	consumer sarama.Consumer
	logs     []sarama.PartitionConsumer
	readers  sync.WaitGroup

	mu   sync.Mutex
	read map[int32]int64 // the next offset, by partition
}

// WatchCommits begins with what is stored from now on. The offsets topic has to exist. Close ends it.
func WatchCommits(book *ledger.Book, b kafkatest.Broker) (*Commits, error) {
	conf := b.Config()
	conf.ClientID = "commits"
	conf.Consumer.Retry.Backoff = 200 * time.Millisecond
	client, err := sarama.NewClient(b.Addrs(), conf)
	if err != nil {
		return nil, err
	}
	c := &Commits{book: book, groups: map[string]bool{}, client: client, read: map[int32]int64{}}
	for _, g := range book.Header.Groups {
		c.groups[g.Name] = true
	}
	if err := c.open(); err != nil {
		_ = client.Close()
		return nil, err
	}
	return c, nil
}

func (c *Commits) open() (err error) {
	if c.consumer, err = sarama.NewConsumerFromClient(c.client); err != nil {
		return err
	}
	partitions, err := c.consumer.Partitions(offsetsTopic)
	if err != nil {
		return err
	}
	for _, p := range partitions {
		end, err := c.client.GetOffset(offsetsTopic, p, sarama.OffsetNewest)
		if err != nil {
			return err
		}
		pc, err := c.consumer.ConsumePartition(offsetsTopic, p, end)
		if err != nil {
			return err
		}
		c.read[p], c.logs = end, append(c.logs, pc)
		c.readers.Go(func() { c.follow(p, pc) }) // ends with Close
	}
	return nil
}

func (c *Commits) follow(p int32, pc sarama.PartitionConsumer) {
	for m := range pc.Messages() {
		if e, ok := c.event(m); ok {
			c.book.Add(e)
		}
		c.mu.Lock()
		c.read[p] = m.Offset + 1
		c.mu.Unlock()
	}
}

// event is what a record says. Records of other groups, of memberships, and what forgets a commit are none.
func (c *Commits) event(m *sarama.ConsumerMessage) (e ledger.Event, ok bool) {
	key, value := kmsg.NewOffsetCommitKey(), kmsg.NewOffsetCommitValue()
	if len(m.Key) < 2 || m.Key[0] != 0 || m.Key[1] > 1 || len(m.Value) == 0 {
		return e, false
	}
	if key.ReadFrom(m.Key) != nil || value.ReadFrom(m.Value) != nil || !c.groups[key.Group] {
		return e, false
	}
	at := time.UnixMilli(value.CommitTimestamp).Add(time.Millisecond - 1)
	return ledger.Event{
		Kind: ledger.Stored, Group: key.Group, Partition: key.Partition, Offset: value.Offset, Text: value.Metadata, Wall: at.UnixNano(),
	}, true
}

// CatchUp returns when all that is stored by now is in the book.
func (c *Commits) CatchUp(ctx context.Context) error {
	for {
		behind, err := c.behind()
		if err == nil && behind == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the log of the commits could not be read to its end, %d records are left: %w", behind, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *Commits) behind() (n int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, next := range c.read {
		end, err := c.client.GetOffset(offsetsTopic, p, sarama.OffsetNewest)
		if err != nil {
			return n, err
		}
		n += max(end-next, 0)
	}
	return n, nil
}

// Close ends the reading.
func (c *Commits) Close() error {
	for _, pc := range c.logs {
		pc.AsyncClose()
	}
	c.readers.Wait()
	err := c.consumer.Close()
	_ = c.client.Close() // closed with the consumer where that owns it
	return err
}
