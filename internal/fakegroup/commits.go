package fakegroup

import (
	"time"

	"github.com/IBM/sarama"
)

// committedOffset is what the coordinator stores for a partition.
type committedOffset struct {
	offset   int64
	metadata string
}

// commit is one OffsetCommit request.
type commit struct {
	memberID   string
	instance   *string
	generation int32
	blocks     map[topicPartition]committedOffset
}

// commit stores offsets and answers per partition. The coordinator checks member and generation, never ownership
// (measured on Apache Kafka 4.4.0; GroupCoordinator.validateOffsetCommit).
func (c *coordinator) commit(req commit) map[topicPartition]sarama.KError {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := c.admitCommitLocked(req)
	answer := make(map[topicPartition]sarama.KError, len(req.blocks))
	for tp, block := range req.blocks {
		answer[tp] = c.storeLocked(whole, tp, block)
	}
	return answer
}

func (c *coordinator) admitCommitLocked(req commit) sarama.KError {
	if req.memberID == "" && req.generation < 0 && c.state == empty {
		return sarama.ErrNoError
	}
	m, err := c.memberOfLocked(req.memberID, req.instance, req.generation)
	switch {
	case err != sarama.ErrNoError:
		return err
	case c.state == completing:
		return sarama.ErrRebalanceInProgress
	}
	m.seen = time.Now()
	return sarama.ErrNoError
}

func (c *coordinator) storeLocked(whole sarama.KError, tp topicPartition, block committedOffset) sarama.KError {
	if whole != sarama.ErrNoError {
		return whole
	}
	if err, ok := c.faults.commit(tp); ok {
		return err
	}
	switch {
	case c.cluster.log(tp) == nil:
		return sarama.ErrUnknownTopicOrPartition
	case len(block.metadata) > c.cluster.settings.MaxMetadataBytes:
		return sarama.ErrOffsetMetadataTooLarge
	}
	c.offsets[tp] = block
	return sarama.ErrNoError
}

// committed returns what is stored, offset -1 for nothing.
func (c *coordinator) committed(tp topicPartition) committedOffset {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o, ok := c.offsets[tp]; ok {
		return o
	}
	return committedOffset{offset: -1}
}
