package fakegroup

import (
	"slices"

	"github.com/IBM/sarama"
)

// coordinatorFaults are the answers that a test has ordered. The coordinator's lock guards them.
type coordinatorFaults struct {
	heartbeats map[string]sarama.KError
	commits    map[topicPartition]*commitFault
}

type commitFault struct {
	err  sarama.KError
	left int
}

// heartbeat takes the answer ordered for a member's next heartbeat.
func (f *coordinatorFaults) heartbeat(memberID string) (sarama.KError, bool) {
	err, ok := f.heartbeats[memberID]
	delete(f.heartbeats, memberID)
	return err, ok
}

// commit takes the answer ordered for a commit of a partition.
func (f *coordinatorFaults) commit(tp topicPartition) (sarama.KError, bool) {
	fault := f.commits[tp]
	if fault == nil || fault.left == 0 {
		return sarama.ErrNoError, false
	}
	fault.left--
	return fault.err, true
}

// Expel removes a member as if its session had timed out: its next heartbeat is answered UNKNOWN_MEMBER_ID, the others rebalance.
// It reports whether there was such a member.
func (c *Cluster) Expel(group, memberID string) bool {
	co := c.coordinator(group)
	co.mu.Lock()
	defer co.mu.Unlock()
	m := co.members[memberID]
	if m != nil {
		co.expelLocked(m)
	}
	return m != nil
}

// AnswerHeartbeat makes the coordinator answer err to the member's next heartbeat, whatever is true: sarama.ErrIllegalGeneration,
// for example. The group itself does not change.
func (c *Cluster) AnswerHeartbeat(group, memberID string, err sarama.KError) {
	co := c.coordinator(group)
	co.mu.Lock()
	defer co.mu.Unlock()
	if co.faults.heartbeats == nil {
		co.faults.heartbeats = make(map[string]sarama.KError)
	}
	co.faults.heartbeats[memberID] = err
}

// FailCommits makes the coordinator answer err to the next n commits of a partition; n < 0 means all, 0 ends it.
func (c *Cluster) FailCommits(group, topic string, partition int32, err sarama.KError, n int) {
	co := c.coordinator(group)
	co.mu.Lock()
	defer co.mu.Unlock()
	if co.faults.commits == nil {
		co.faults.commits = make(map[topicPartition]*commitFault)
	}
	co.faults.commits[topicPartition{topic, partition}] = &commitFault{err, n}
}

// Rebalance starts a round in a group that has members and none under way, as a change of the group's subscriptions does.
func (c *Cluster) Rebalance(group string) {
	co := c.coordinator(group)
	co.mu.Lock()
	defer co.mu.Unlock()
	if len(co.members) > 0 && co.state != preparing {
		co.prepareLocked()
	}
}

// Members lists the ids of a group's members, sorted.
func (c *Cluster) Members(group string) []string {
	co := c.coordinator(group)
	co.mu.Lock()
	defer co.mu.Unlock()
	return slices.Sorted(slices.Values(co.order))
}

// GroupState returns the group's state in Kafka's words, Empty, PreparingRebalance, CompletingRebalance or Stable, and its generation.
func (c *Cluster) GroupState(group string) (state string, generation int32) {
	co := c.coordinator(group)
	co.mu.Lock()
	defer co.mu.Unlock()
	return co.state.String(), co.generation
}

// Committed returns a group's committed offset and its metadata, -1 and "" where none is.
func (c *Cluster) Committed(group, topic string, partition int32) (int64, string) {
	o := c.coordinator(group).committed(topicPartition{topic, partition})
	return o.offset, o.metadata
}

// Offset is what [Cluster.Commit] stores.
type Offset struct {
	Topic     string
	Partition int32
	Offset    int64
	Metadata  string
}

// Commit stores an offset in the name of a member, as a commit over a connection of one's own does. An empty member id with generation
// -1 is let through while the group is empty (an administrator's commit). The answer is sarama.ErrNoError when it was stored.
func (c *Cluster) Commit(group, memberID string, generation int32, o Offset) sarama.KError {
	tp := topicPartition{o.Topic, o.Partition}
	answer := c.coordinator(group).commit(commit{
		memberID: memberID, generation: generation, blocks: map[topicPartition]committedOffset{tp: {o.Offset, o.Metadata}},
	})
	return answer[tp]
}

// Heartbeat sends a heartbeat in the name of a member, as a connection of one's own does.
func (c *Cluster) Heartbeat(group, memberID string, generation int32) sarama.KError {
	return c.coordinator(group).heartbeat(&sarama.HeartbeatRequest{MemberId: memberID, GenerationId: generation}).Err
}
