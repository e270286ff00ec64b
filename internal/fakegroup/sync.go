package fakegroup

import (
	"time"

	"github.com/IBM/sarama"
)

// sync takes a SyncGroup request. The answer comes when the leader has sent the assignment.
func (c *coordinator) sync(req *sarama.SyncGroupRequest) *reply[*sarama.SyncGroupResponse] {
	r := newReply[*sarama.SyncGroupResponse]()
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := c.memberOfLocked(req.MemberId, req.GroupInstanceId, req.GenerationId)
	switch {
	case err != sarama.ErrNoError:
		r.answer(&sarama.SyncGroupResponse{Err: err})
	case c.state == preparing:
		r.answer(&sarama.SyncGroupResponse{Err: sarama.ErrRebalanceInProgress})
	default:
		m.syncing = r
		delete(c.unsynced, m.id)
		c.settleLocked(m, req)
	}
	return r
}

// settleLocked hands out assignments: all of them when the leader has spoken, the member's own in a stable group.
func (c *coordinator) settleLocked(m *member, req *sarama.SyncGroupRequest) {
	m.seen = time.Now()
	switch {
	case c.state == stable:
		m.answerSync(&sarama.SyncGroupResponse{MemberAssignment: m.assignment})
	case m.id == c.leader:
		c.assignLocked(req)
	}
}

func (c *coordinator) assignLocked(req *sarama.SyncGroupRequest) {
	for _, m := range c.members {
		m.assignment = nil
	}
	for _, a := range req.GroupAssignments {
		if m := c.members[a.MemberId]; m != nil {
			m.assignment = a.Assignment
		}
	}
	c.state = stable
	for _, m := range c.members {
		m.answerSync(&sarama.SyncGroupResponse{MemberAssignment: m.assignment})
	}
}

// memberOfLocked checks member and generation, in Kafka's order.
func (c *coordinator) memberOfLocked(id string, instance *string, generation int32) (*member, sarama.KError) {
	m, err := c.findLocked(id, instance)
	if err != sarama.ErrNoError {
		return nil, err
	}
	if generation != c.generation {
		return nil, sarama.ErrIllegalGeneration
	}
	return m, sarama.ErrNoError
}

// heartbeat takes a Heartbeat request. A member of a group that prepares a rebalance is told so, and counts as heard.
func (c *coordinator) heartbeat(req *sarama.HeartbeatRequest) *sarama.HeartbeatResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err, ok := c.faults.heartbeat(req.MemberId); ok {
		return &sarama.HeartbeatResponse{Err: err}
	}
	m, err := c.memberOfLocked(req.MemberId, req.GroupInstanceId, req.GenerationId)
	if err != sarama.ErrNoError {
		return &sarama.HeartbeatResponse{Err: err}
	}
	m.seen = time.Now()
	if c.state == preparing {
		return &sarama.HeartbeatResponse{Err: sarama.ErrRebalanceInProgress}
	}
	return &sarama.HeartbeatResponse{}
}

// leave takes a LeaveGroup request of one member.
func (c *coordinator) leave(memberID string) sarama.KError {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.promised[memberID]; ok {
		delete(c.promised, memberID)
		c.tryCompleteJoinLocked()
		return sarama.ErrNoError
	}
	m, err := c.findLocked(memberID, nil)
	if err == sarama.ErrNoError {
		c.expelLocked(m)
	}
	return err
}
