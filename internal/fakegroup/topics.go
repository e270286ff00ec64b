package fakegroup

import (
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

// CreateTopic adds a topic with empty partitions 0 to partitions-1. It panics when the topic exists: that is a fault of the test.
func (c *Cluster) CreateTopic(name string, partitions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.topics[name]; ok {
		panic(fmt.Sprintf("fakegroup: topic %s exists", name))
	}
	c.topics[name] = newLogs(partitions)
}

// AddPartitions makes the topic have n partitions. It panics when the topic is missing or has more.
func (c *Cluster) AddPartitions(name string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	logs, ok := c.topics[name]
	if !ok || len(logs) > n {
		panic(fmt.Sprintf("fakegroup: topic %s has %d partitions, asked for %d", name, len(logs), n))
	}
	c.topics[name] = append(logs, newLogs(n-len(logs))...)
}

// DeleteTopic removes the topic with its records. Claims on it report UNKNOWN_TOPIC_OR_PARTITION every Consumer.Retry.Backoff.
func (c *Cluster) DeleteTopic(name string) {
	c.mu.Lock()
	logs := c.topics[name]
	delete(c.topics, name)
	c.mu.Unlock()
	for _, log := range logs {
		log.changed.broadcast()
	}
}

// Produce appends a record, stamped with the current time, and returns its offset. It panics when there is no such partition.
func (c *Cluster) Produce(topic string, partition int32, key, value []byte) int64 {
	return c.ProduceMessage(&sarama.ConsumerMessage{Topic: topic, Partition: partition, Key: key, Value: value, Timestamp: time.Now()})
}

// ProduceMessage appends a copy of m as it is, headers and timestamp included, and returns its offset; m.Offset is not looked at.
func (c *Cluster) ProduceMessage(m *sarama.ConsumerMessage) int64 {
	return c.mustLog(m.Topic, m.Partition).append(*m)
}

// Gap leaves n offsets without a record, as compaction and transaction markers do.
func (c *Cluster) Gap(topic string, partition int32, n int64) {
	c.mustLog(topic, partition).gap(n)
}

// Trim deletes the records before offset, as retention does.
func (c *Cluster) Trim(topic string, partition int32, offset int64) {
	c.mustLog(topic, partition).trim(offset)
}

// HighWaterMark returns the offset that the next record gets.
func (c *Cluster) HighWaterMark(topic string, partition int32) int64 {
	_, next := c.mustLog(topic, partition).bounds()
	return next
}

func (c *Cluster) mustLog(topic string, partition int32) *partitionLog {
	log := c.log(topicPartition{topic, partition})
	if log == nil {
		panic(fmt.Sprintf("fakegroup: no partition %s/%d", topic, partition))
	}
	return log
}
