package fakegroup

import (
	"time"

	"github.com/IBM/sarama"
)

// join takes a JoinGroup request. The answer comes when the round is complete.
func (c *coordinator) join(clientID string, req *sarama.JoinGroupRequest) *reply[*sarama.JoinGroupResponse] {
	r := newReply[*sarama.JoinGroupResponse]()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refuseLocked(req); err != sarama.ErrNoError {
		r.answer(&sarama.JoinGroupResponse{Err: err, MemberId: req.MemberId})
		return r
	}
	if req.MemberId == "" {
		c.joinNewLocked(clientID, req, r)
	} else {
		c.joinKnownLocked(req, r)
	}
	return r
}

func (c *coordinator) refuseLocked(req *sarama.JoinGroupRequest) sarama.KError {
	session := time.Duration(req.SessionTimeout) * time.Millisecond
	switch s := c.cluster.settings; {
	case session < s.MinSessionTimeout || session > s.MaxSessionTimeout:
		return sarama.ErrInvalidSessionTimeout
	case !c.fitsLocked(req.OrderedGroupProtocols):
		return sarama.ErrInconsistentGroupProtocol
	}
	return sarama.ErrNoError
}

// joinNewLocked serves a join without a member id: since KIP-394 (JoinGroup v4) a dynamic member is given an id and asked to come again.
func (c *coordinator) joinNewLocked(clientID string, req *sarama.JoinGroupRequest, r *reply[*sarama.JoinGroupResponse]) {
	id := c.newMemberIDLocked(clientID)
	switch {
	case req.GroupInstanceId != nil && c.members[c.static[*req.GroupInstanceId]] != nil:
		c.takeOverLocked(c.members[c.static[*req.GroupInstanceId]], id, req, r)
	case req.GroupInstanceId == nil && req.Version >= 4:
		c.promised[id] = struct{}{}
		c.forgetLater(id, time.Duration(req.SessionTimeout)*time.Millisecond)
		r.answer(&sarama.JoinGroupResponse{Err: sarama.ErrMemberIdRequired, MemberId: id})
	default:
		c.admitLocked(id, req, r)
	}
}

// forgetLater voids a promised id that is not used within the session timeout: until then rounds wait for it.
func (c *coordinator) forgetLater(id string, d time.Duration) {
	time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, ok := c.promised[id]; ok {
			delete(c.promised, id)
			c.tryCompleteJoinLocked()
		}
	})
}

func (c *coordinator) admitLocked(id string, req *sarama.JoinGroupRequest, r *reply[*sarama.JoinGroupResponse]) {
	m := c.addLocked(id, req)
	m.joining = r
	if c.state != preparing {
		c.prepareLocked()
		return
	}
	c.tryCompleteJoinLocked()
}

func (c *coordinator) joinKnownLocked(req *sarama.JoinGroupRequest, r *reply[*sarama.JoinGroupResponse]) {
	if _, ok := c.promised[req.MemberId]; ok {
		delete(c.promised, req.MemberId)
		c.admitLocked(req.MemberId, req, r)
		return
	}
	m, err := c.findLocked(req.MemberId, req.GroupInstanceId)
	if err != sarama.ErrNoError {
		r.answer(&sarama.JoinGroupResponse{Err: err, MemberId: req.MemberId})
		return
	}
	c.rejoinLocked(m, req, r)
}

// rejoinLocked serves a member that joins again (GroupCoordinator.doCurrentMemberJoinGroup): a leader, or new metadata, starts a round;
// a follower that repeats itself in a stable group, or anybody who does while assignments are awaited, gets the current generation.
func (c *coordinator) rejoinLocked(m *member, req *sarama.JoinGroupRequest, r *reply[*sarama.JoinGroupResponse]) {
	same := m.matches(req.OrderedGroupProtocols)
	m.update(req)
	m.seen = time.Now()
	switch {
	case c.state == completing && same, c.state == stable && same && m.id != c.leader:
		r.answer(c.welcomeLocked(m))
		return
	case c.state == completing || c.state == stable:
		m.joining = r
		c.prepareLocked()
	default:
		m.joining = r
		c.tryCompleteJoinLocked()
	}
}

// takeOverLocked gives a static member's place to a new process (GroupCoordinator.updateStaticMemberAndRebalance). A stable group goes
// on in the same generation, and a leader's successor is told the old leader's id (JoinGroup below v9): nobody plans until the next round.
func (c *coordinator) takeOverLocked(old *member, id string, req *sarama.JoinGroupRequest, r *reply[*sarama.JoinGroupResponse]) {
	leader := c.leader
	old.answerJoin(&sarama.JoinGroupResponse{Err: sarama.ErrFencedInstancedId})
	old.answerSync(&sarama.SyncGroupResponse{Err: sarama.ErrFencedInstancedId})
	assignment := old.assignment
	c.removeLocked(old)
	m := c.addLocked(id, req)
	m.assignment = assignment
	if leader == old.id {
		c.leader = id
	}
	if c.state == stable && c.voteLocked() == c.protocol {
		resp := c.welcomeLocked(m)
		resp.LeaderId, resp.Members = leader, nil
		r.answer(resp)
		return
	}
	m.joining = r
	if c.state == preparing {
		c.tryCompleteJoinLocked()
		return
	}
	c.prepareLocked()
}
