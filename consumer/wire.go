package consumer

import (
	"context"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
)

// Requests carry the versions that sarama itself chooses for the same configuration (offset_manager.go, consumer_group.go).

func (m *membership) instanceID() *string {
	if id := m.conf.Consumer.Group.InstanceId; id != "" {
		return &id
	}
	return nil
}

// pick returns the value of the newest version that the configured one reaches. steps rise.
func pick(v sarama.KafkaVersion, steps ...step) int16 {
	version := int16(0)
	for _, s := range steps {
		if v.IsAtLeast(s.from) {
			version = s.version
		}
	}
	return version
}

type step struct {
	from    sarama.KafkaVersion
	version int16
}

func (m *membership) heartbeat(ctx context.Context, memberID string, generation int32) error {
	version := pick(m.conf.Version, step{sarama.V0_11_0_0, 1}, step{sarama.V2_0_0_0, 2}, step{sarama.V2_3_0_0, 3}, step{sarama.V2_4_0_0, 4})
	req := &sarama.HeartbeatRequest{Version: version, GroupId: m.cfg.Group, MemberId: memberID, GenerationId: generation}
	if version >= 3 {
		req.GroupInstanceId = m.instanceID()
	}
	resp, err := m.link.Heartbeat(ctx, req)
	if err != nil {
		return err
	}
	if resp.Err == sarama.ErrNotCoordinatorForConsumer {
		m.coordinatorMoved(ctx)
	}
	return kerror(resp.Err)
}

// joining says that a JoinGroup of sarama's is out.
func (m *membership) joining() bool { return m.link.Joining() }

func kerror(code sarama.KError) error {
	if code == sarama.ErrNoError {
		return nil
	}
	return code
}

// sendCommit is the commit loop's way out. The leader epoch is -1, unknown: AddBlock would store epoch 0, which a Java consumer that
// takes the group over may read as a truncated log.
func (m *membership) sendCommit(ctx context.Context, r commit.Request) ([]error, error) {
	version := pick(m.conf.Version, step{sarama.V0_9_0_0, 2}, step{sarama.V0_11_0_0, 3}, step{sarama.V2_0_0_0, 4},
		step{sarama.V2_1_0_0, 6}, step{sarama.V2_3_0_0, 7}, step{sarama.V2_4_0_0, 8})
	req := &sarama.OffsetCommitRequest{
		Version: version, ConsumerGroup: m.cfg.Group, ConsumerID: r.MemberID, ConsumerGroupGeneration: r.Generation, RetentionTime: -1,
	}
	if version >= 7 {
		req.GroupInstanceId = m.instanceID()
	}
	for _, o := range r.Offsets {
		req.AddBlockWithLeaderEpoch(o.Topic, o.Partition, o.Offset, -1, 0, "")
	}
	resp, err := m.link.Commit(ctx, req)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(r.Offsets))
	for i, o := range r.Offsets {
		code, ok := resp.Errors[o.Topic][o.Partition]
		if !ok {
			code = sarama.ErrUnknown // an answer without this partition says nothing about it
		}
		errs[i] = kerror(code)
	}
	return errs, nil
}

func (m *membership) coordinatorMoved(ctx context.Context) {
	_ = m.link.Locate(ctx) // the next request tells if it did not help
}

// committed reads the stored offset of a partition, -1 for none or where it could not be read.
func (m *membership) committed(ctx context.Context, topic string, partition int32) int64 {
	ctx, cancel := context.WithTimeout(ctx, m.plan.CallTimeout)
	defer cancel()
	req := sarama.NewOffsetFetchRequest(m.conf.Version, m.cfg.Group, map[string][]int32{topic: {partition}})
	resp, err := m.link.FetchOffsets(ctx, req)
	if err != nil || resp.Err != sarama.ErrNoError {
		return -1
	}
	block := resp.GetBlock(topic, partition)
	if block == nil || block.Err != sarama.ErrNoError {
		return -1
	}
	return block.Offset
}
