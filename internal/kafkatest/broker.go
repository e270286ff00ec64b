package kafkatest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/IBM/sarama"
)

// Broker is a Kafka that a test, an example or a bench can use: in-process, one real node, three real nodes, or one that
// runs elsewhere. Every method is safe for concurrent use. The helpers open connections of their own for each call and
// leave nothing behind; they retry what passes by itself (an election, a coordinator that loads) for up to a minute.
type Broker interface {
	// Addrs are the host:port pairs to bootstrap from.
	Addrs() []string
	// Config is a fresh configuration, sarama's defaults but for the version, which is one that the broker speaks, and
	// whatever the listener asks for (TLS, SASL).
	Config() *sarama.Config

	// CreateTopic creates a topic with the broker's default replication and returns when every partition has a leader.
	CreateTopic(topic string, partitions int32) error
	// DeleteTopic deletes a topic and returns when it is gone from the metadata.
	DeleteTopic(topic string) error
	// AddPartitions raises a topic's partitions to total, and returns when each one has a leader.
	AddPartitions(topic string, total int32) error
	// DeleteRecords trims a partition: offset becomes the first one that can be read. -1 trims to the end.
	DeleteRecords(topic string, partition int32, offset int64) error

	// Produce appends one message a value to a partition, with no key, and returns when all are acknowledged.
	Produce(topic string, partition int32, values ...string) error
	// Send appends messages to the partitions that they name and returns when all are acknowledged. It fills in the offsets.
	Send(msgs ...*sarama.ProducerMessage) error
	// StartOffset is the first offset of a partition that can be read.
	StartOffset(topic string, partition int32) (int64, error)
	// EndOffset is the offset that the next message of a partition gets.
	EndOffset(topic string, partition int32) (int64, error)

	// Committed is what the group committed for a partition: offset -1 and no error if nothing.
	Committed(group, topic string, partition int32) (offset int64, metadata string, err error)
	// Commit sets a group's offset from outside. The group must have no member.
	Commit(group, topic string, partition int32, offset int64, metadata string) error
	// Group describes a group: state, protocol, members. The state is "Dead" if there is no such group.
	Group(group string) (*sarama.GroupDescription, error)
	// DeleteGroup deletes a group that has no member, with its offsets.
	DeleteGroup(group string) error

	// Close stops what was started. Calling it again does nothing.
	Close() error
}

var (
	_ Broker = (*Remote)(nil)
	_ Broker = (*FakeBroker)(nil)
	_ Broker = (*Node)(nil)
	_ Broker = (*NodeCluster)(nil)
)

var names atomic.Int64 // a process-wide count is what makes names unique

// Name returns a topic or group name that is unique in this process and says which test it belongs to.
func Name(tb testing.TB) string {
	tb.Helper()
	legal := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, tb.Name())
	return fmt.Sprintf("%.100s-%d", legal, names.Add(1))
}
