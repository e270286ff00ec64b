package kafkatest_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// raw speaks to a group's coordinator without a group client.
type raw struct {
	addr, topic, group string
	cfg                *sarama.Config
	coordinator        *sarama.Broker
	protocol, metadata string
	session            int32 // milliseconds
}

// rawMember is what a member has to say who it is.
type rawMember struct {
	id         string
	instance   *string
	generation int32
}

func newRaw(t *testing.T, b kafkatest.Broker, topic string) *raw {
	r := &raw{addr: b.Addrs()[0], topic: topic, group: kafkatest.Name(t), cfg: b.Config(), protocol: "p", session: 6000}
	must(t, b.Commit(r.group, topic, 0, 1, "")) // the coordinator loads, if it has to
	must(t, b.DeleteGroup(r.group))
	r.coordinator = r.connect(t)
	return r
}

func (r *raw) connect(t *testing.T) *sarama.Broker {
	broker := sarama.NewBroker(r.addr)
	must(t, broker.Open(r.cfg))
	t.Cleanup(func() { broker.Close() })
	return broker
}

// join joins as a leader or a follower of a group whose other members join too.
func (r *raw) join(t *testing.T, m *rawMember, instance string) sarama.KError {
	return r.joinOver(t, r.coordinator, m, instance)
}

func (r *raw) joinOver(t *testing.T, over *sarama.Broker, m *rawMember, instance string) sarama.KError {
	if instance != "" {
		m.instance = &instance
	}
	for {
		req := &sarama.JoinGroupRequest{
			Version: 5, GroupId: r.group, MemberId: m.id, GroupInstanceId: m.instance,
			SessionTimeout: r.session, RebalanceTimeout: 10_000, ProtocolType: "consumer",
		}
		must(t, req.AddGroupProtocolMetadata(r.protocol, &sarama.ConsumerGroupMemberMetadata{Topics: []string{r.topic}}))
		resp, err := over.JoinGroup(req)
		if err != nil {
			t.Log("join:", err)
			return sarama.ErrUnknown
		}
		m.id, m.generation = resp.MemberId, resp.GenerationId
		if resp.Err != sarama.ErrMemberIdRequired {
			return resp.Err
		}
	}
}

// joinBehind lets a second member join, whose answer waits for the first one, and returns when ready does.
func (r *raw) joinBehind(t *testing.T, ready func()) {
	over := r.connect(t)
	var wg sync.WaitGroup
	t.Cleanup(func() { over.Close(); wg.Wait() })
	// Ends when the connection is closed, or the group gives up on the first member.
	wg.Go(func() { _ = r.joinOver(t, over, &rawMember{}, "") })
	ready()
}

// stable is a member of a group that has only it.
func (r *raw) stable(t *testing.T, instance string) *rawMember {
	m := &rawMember{}
	if err := r.join(t, m, instance); err != sarama.ErrNoError {
		t.Fatal(err)
	}
	req := &sarama.SyncGroupRequest{Version: 3, GroupId: r.group, GenerationId: m.generation, MemberId: m.id, GroupInstanceId: m.instance}
	must(t, req.AddGroupAssignmentMember(m.id, &sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{r.topic: {0}}}))
	resp, err := r.coordinator.SyncGroup(req)
	must(t, err)
	must(t, kerror(resp.Err))
	return m
}

func (r *raw) heartbeat(t *testing.T, m *rawMember) sarama.KError {
	resp, err := r.coordinator.Heartbeat(&sarama.HeartbeatRequest{
		Version: 3, GroupId: r.group, GenerationId: m.generation, MemberId: m.id, GroupInstanceId: m.instance,
	})
	must(t, err)
	return resp.Err
}

// heartbeatUntil returns a function that waits for an answer.
func (r *raw) heartbeatUntil(t *testing.T, m *rawMember, want sarama.KError) func() {
	return func() {
		for r.heartbeat(t, m) != want {
			must(t, t.Context().Err())
		}
	}
}

func (r *raw) leave(t *testing.T, m *rawMember) {
	resp, err := r.coordinator.LeaveGroup(&sarama.LeaveGroupRequest{Version: 1, GroupId: r.group, MemberId: m.id})
	must(t, err)
	must(t, kerror(resp.Err))
}

func (r *raw) commit(t *testing.T, m *rawMember) sarama.KError {
	req := &sarama.OffsetCommitRequest{
		Version: 7, ConsumerGroup: r.group, ConsumerID: m.id, ConsumerGroupGeneration: m.generation, GroupInstanceId: m.instance,
	}
	req.AddBlockWithLeaderEpoch(r.topic, 0, 5, 0, 0, r.metadata)
	resp, err := r.coordinator.CommitOffset(req)
	must(t, err)
	return resp.Errors[r.topic][0]
}

func kerror(code sarama.KError) error {
	if errors.Is(code, sarama.ErrNoError) {
		return nil
	}
	return code
}
