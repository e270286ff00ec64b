package kafkatest

import (
	"errors"

	"github.com/IBM/sarama"
)

// CreateTopic implements [Broker].
func (r *Remote) CreateTopic(topic string, partitions int32) error {
	err := r.withAdmin("create topic "+topic, afterRetry(sarama.ErrTopicAlreadyExists, func(a sarama.ClusterAdmin) error {
		return a.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: -1}, false)
	}))
	if err != nil {
		return err
	}
	return r.awaitLeaders(topic, partitions)
}

// awaitLeaders waits until the topic shows that many partitions and each one's leader answers a request for it.
func (r *Remote) awaitLeaders(topic string, partitions int32) error {
	return r.withClient("await leaders of "+topic, func(c sarama.Client) error {
		err := c.RefreshMetadata(topic)
		if errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
			return errNotYet
		}
		if err != nil {
			return err
		}
		for p := range partitions {
			switch _, err := c.GetOffset(topic, p, sarama.OffsetOldest); {
			case errors.Is(err, sarama.ErrUnknownTopicOrPartition):
				return errNotYet
			case err != nil:
				return err
			}
		}
		return nil
	})
}

// DeleteTopic implements [Broker].
func (r *Remote) DeleteTopic(topic string) error {
	err := r.withAdmin("delete topic "+topic, afterRetry(sarama.ErrUnknownTopicOrPartition, func(a sarama.ClusterAdmin) error {
		return a.DeleteTopic(topic)
	}))
	if err != nil {
		return err
	}
	return r.withClient("await the end of "+topic, func(c sarama.Client) error {
		switch err := c.RefreshMetadata(topic); {
		case err == nil:
			return errNotYet
		case errors.Is(err, sarama.ErrUnknownTopicOrPartition):
			return nil
		default:
			return err
		}
	})
}

// AddPartitions implements [Broker].
func (r *Remote) AddPartitions(topic string, total int32) error {
	err := r.withAdmin("add partitions to "+topic, afterRetry(sarama.ErrInvalidPartitions, func(a sarama.ClusterAdmin) error {
		return a.CreatePartitions(topic, total, nil, false)
	}))
	if err != nil {
		return err
	}
	return r.awaitLeaders(topic, total)
}

// DeleteRecords implements [Broker].
func (r *Remote) DeleteRecords(topic string, partition int32, offset int64) error {
	return r.withAdmin("delete records of "+topic, func(a sarama.ClusterAdmin) error {
		return a.DeleteRecords(topic, map[int32]int64{partition: offset})
	})
}

// Produce implements [Broker].
func (r *Remote) Produce(topic string, partition int32, values ...string) error {
	msgs := make([]*sarama.ProducerMessage, len(values))
	for i, v := range values {
		msgs[i] = &sarama.ProducerMessage{Topic: topic, Partition: partition, Value: sarama.StringEncoder(v)}
	}
	return r.Send(msgs...)
}

// Send implements [Broker]. It is not retried as a whole: a second try could append a message twice.
func (r *Remote) Send(msgs ...*sarama.ProducerMessage) error {
	cfg := r.helperConfig()
	cfg.Producer.RequiredAcks = sarama.WaitForAll
	cfg.Producer.Retry.Max, cfg.Metadata.Retry.Max = 60, 20
	producer, err := sarama.NewSyncProducer(r.reach(), cfg)
	if err != nil {
		return err
	}
	return errors.Join(producer.SendMessages(msgs), producer.Close())
}

// StartOffset implements [Broker].
func (r *Remote) StartOffset(topic string, partition int32) (int64, error) {
	return r.offset(topic, partition, sarama.OffsetOldest)
}

// EndOffset implements [Broker].
func (r *Remote) EndOffset(topic string, partition int32) (int64, error) {
	return r.offset(topic, partition, sarama.OffsetNewest)
}

func (r *Remote) offset(topic string, partition int32, which int64) (offset int64, err error) {
	err = r.withClient("offset of "+topic, func(c sarama.Client) (err error) {
		offset, err = c.GetOffset(topic, partition, which)
		return err
	})
	return offset, err
}
