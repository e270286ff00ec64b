package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
	"github.com/evenkeel-go/evenkeel/internal/member"
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
	m.moved(ctx, resp.Err)
	return kerror(resp.Err)
}

// completing says that the group is between a round and its assignments: all have joined who do, and the leader has not told who owns what.
func (m *membership) completing(ctx context.Context) bool {
	version := pick(m.conf.Version, step{sarama.V0_11_0_0, 1}, step{sarama.V2_0_0_0, 2}, step{sarama.V2_3_0_0, 3}, step{sarama.V2_4_0_0, 5})
	resp, err := m.link.Describe(ctx, &sarama.DescribeGroupsRequest{Version: version, Groups: []string{m.cfg.Group}})
	if err != nil || len(resp.Groups) != 1 {
		return false
	}
	m.moved(ctx, resp.Groups[0].Err)
	return resp.Groups[0].Err == sarama.ErrNoError && resp.Groups[0].State == "CompletingRebalance"
}

// joining says that a JoinGroup of sarama's is out.
func (m *membership) joining() bool { return m.link.Joining() }

func (m *membership) lastSync() link.Sync { return m.link.LastSync() }

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
		req.AddBlockWithLeaderEpoch(o.Topic, o.Partition, o.Offset, -1, 0, o.Metadata)
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

// committed reads what is stored for a partition, and asks again until it is told or ctx ends.
func (m *membership) committed(ctx context.Context, topic string, partition int32) (member.Position, error) {
	for pause := firstLookUp; ; pause = min(2*pause, lastLookUp) {
		p, err := m.lookUp(ctx, topic, partition)
		if err == nil || ctx.Err() != nil || commit.Judge(err) != commit.Again {
			return p, err
		}
		_ = link.Sleep(ctx, pause)
	}
}

const (
	firstLookUp = 50 * time.Millisecond
	lastLookUp  = 2 * time.Second
)

func (m *membership) lookUp(ctx context.Context, topic string, partition int32) (member.Position, error) {
	none := member.Position{Offset: -1}
	ctx, cancel := context.WithTimeout(ctx, m.plan.CallTimeout)
	defer cancel()
	resp, err := m.fetchOffsets(ctx, map[string][]int32{topic: {partition}})
	if err != nil {
		return none, err
	}
	block := resp.GetBlock(topic, partition)
	switch {
	case resp.Err != sarama.ErrNoError:
		m.moved(ctx, resp.Err)
		return none, resp.Err
	case block == nil:
		return none, sarama.ErrIncompleteResponse
	case block.Err != sarama.ErrNoError:
		m.moved(ctx, block.Err)
		return none, block.Err
	}
	return member.Position{Offset: block.Offset, Metadata: block.Metadata}, nil
}

// fetchOffsets asks for no less than all that was ever answered as stored. Without RequireStable a coordinator that has just taken over
// answers up to the high watermark that it knows, which may be older (Kafka 4 and the KRaft coordinator of 3.x; seen for up to 1 s on 4.4):
// a claim would start what is done, and take over from a stamp that is no longer the last. With it the broker answers when all that it has
// of the group is safe (KAFKA-14499, apache/kafka#14120), and one that is no longer the coordinator does not answer at all.
func (m *membership) fetchOffsets(ctx context.Context, of map[string][]int32) (*sarama.OffsetFetchResponse, error) {
	req := sarama.NewOffsetFetchRequest(m.conf.Version, m.cfg.Group, of)
	req.RequireStable = req.Version >= firstStable
	resp, err := m.link.FetchOffsets(ctx, req)
	if tooNew := (sarama.PacketEncodingError{}); req.RequireStable && errors.As(err, &tooNew) { // the broker is older than Version says
		req.RequireStable = false
		return m.link.FetchOffsets(ctx, req)
	}
	return resp, err
}

// firstStable is the version of OffsetFetch that knows RequireStable: Kafka 2.5 (KIP-447).
const firstStable = 7

// moved looks the coordinator up again where an answer says that it is another one.
func (m *membership) moved(ctx context.Context, answer sarama.KError) {
	if answer == sarama.ErrNotCoordinatorForConsumer {
		m.coordinatorMoved(ctx)
	}
}
