package kafkatest

import (
	"errors"
	"fmt"

	"github.com/IBM/sarama"
)

// Committed implements [Broker].
func (r *Remote) Committed(group, topic string, partition int32) (offset int64, metadata string, err error) {
	err = r.withAdmin(fmt.Sprintf("committed %s %s/%d", group, topic, partition), func(a sarama.ClusterAdmin) error {
		resp, err := a.ListConsumerGroupOffsets(group, map[string][]int32{topic: {partition}})
		if errors.Is(err, sarama.ErrGroupIDNotFound) { // the in-process broker's answer; a real one gives -1
			offset = -1
			return nil
		}
		if err != nil {
			return err
		}
		block := resp.GetBlock(topic, partition)
		if block == nil {
			return errNotYet
		}
		offset, metadata = block.Offset, block.Metadata
		return kafkaError(block.Err)
	})
	return offset, metadata, err
}

// Commit implements [Broker].
func (r *Remote) Commit(group, topic string, partition int32, offset int64, metadata string) error {
	req := &sarama.OffsetCommitRequest{Version: 2, ConsumerGroup: group, ConsumerGroupGeneration: -1, RetentionTime: -1}
	req.AddBlock(topic, partition, offset, 0, metadata)
	return r.withClient("commit for "+group, func(c sarama.Client) error {
		coordinator, err := c.Coordinator(group)
		if err != nil {
			return err
		}
		resp, err := coordinator.CommitOffset(req)
		if err != nil {
			return err
		}
		return kafkaError(resp.Errors[topic][partition])
	})
}

// Group implements [Broker].
func (r *Remote) Group(group string) (description *sarama.GroupDescription, err error) {
	err = r.withAdmin("describe group "+group, func(a sarama.ClusterAdmin) error {
		groups, err := a.DescribeConsumerGroups([]string{group})
		if err != nil {
			return err
		}
		if len(groups) != 1 {
			return errNotYet
		}
		description = groups[0]
		if description.Err == sarama.ErrGroupIDNotFound { // how a 4.x broker says Dead
			return nil
		}
		return kafkaError(description.Err)
	})
	return description, err
}

// DeleteGroup implements [Broker].
func (r *Remote) DeleteGroup(group string) error {
	return r.withAdmin("delete group "+group, func(a sarama.ClusterAdmin) error { return a.DeleteConsumerGroup(group) })
}

// kafkaError makes the code for success nil: a KError of 0 is an error value otherwise.
func kafkaError(code sarama.KError) error {
	if code == sarama.ErrNoError {
		return nil
	}
	return code
}
