package fakegroup

import (
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// Settings are the broker's own. Zero fields mean the documented default.
type Settings struct {
	// InitialRebalanceDelay is group.initial.rebalance.delay.ms: how long an empty group waits for more members before its first
	// generation. Default 0 (Apache Kafka: 3 s).
	InitialRebalanceDelay time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound a member's session timeout. Defaults 6 s and 30 min, as in Apache Kafka.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxMetadataBytes is offset.metadata.max.bytes. Default 4096.
	MaxMetadataBytes int
	// MaxFetchRecords bounds the records of one fetch. Default: bounded by Consumer.Fetch.Default bytes alone.
	MaxFetchRecords int
}

func (s Settings) withDefaults() Settings {
	if s.MinSessionTimeout == 0 {
		s.MinSessionTimeout = 6 * time.Second
	}
	if s.MaxSessionTimeout == 0 {
		s.MaxSessionTimeout = 30 * time.Minute
	}
	if s.MaxMetadataBytes == 0 {
		s.MaxMetadataBytes = 4096
	}
	return s
}

// Cluster holds topics and groups. It is safe for concurrent use.
type Cluster struct {
	settings Settings

	mu     sync.Mutex
	topics map[string][]*partitionLog
	groups map[string]*coordinator
}

// NewCluster makes an empty cluster with default settings.
func NewCluster() *Cluster { return NewClusterWith(Settings{}) }

// NewClusterWith makes an empty cluster.
func NewClusterWith(s Settings) *Cluster {
	return &Cluster{
		settings: s.withDefaults(),
		topics:   make(map[string][]*partitionLog),
		groups:   make(map[string]*coordinator),
	}
}

// coordinator returns the group's coordinator, made at first use.
func (c *Cluster) coordinator(group string) *coordinator {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups[group] == nil {
		c.groups[group] = newCoordinator(c)
	}
	return c.groups[group]
}

// topicPartition names one partition.
type topicPartition struct {
	topic     string
	partition int32
}

// log returns the partition's log, nil where there is no such partition.
func (c *Cluster) log(tp topicPartition) *partitionLog {
	c.mu.Lock()
	defer c.mu.Unlock()
	logs := c.topics[tp.topic]
	if tp.partition < 0 || int(tp.partition) >= len(logs) {
		return nil
	}
	return logs[tp.partition]
}

// partitions lists a topic's partitions as sarama's Client.Partitions does.
func (c *Cluster) partitions(topic string) ([]int32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	logs, ok := c.topics[topic]
	if !ok {
		return nil, sarama.ErrUnknownTopicOrPartition
	}
	ids := make([]int32, len(logs))
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids, nil
}

// known says whether every topic exists, as sarama's Client.RefreshMetadata does: its error names the topic, and wraps.
func (c *Cluster) known(topics ...string) error {
	for _, topic := range topics {
		if _, err := c.partitions(topic); err != nil {
			return fmt.Errorf("%s: %w", topic, err)
		}
	}
	return nil
}
