package fakegroup

import (
	"time"

	"github.com/IBM/sarama"
)

// prepareLocked starts a round: it ends when everybody has joined, or after the longest rebalance timeout of all members.
// An empty group's first round waits for the initial delay instead.
func (c *coordinator) prepareLocked() {
	for _, m := range c.members {
		m.answerSync(&sarama.SyncGroupResponse{Err: sarama.ErrRebalanceInProgress})
	}
	clear(c.unsynced)
	first := c.state == empty
	c.state = preparing
	if delay := c.cluster.settings.InitialRebalanceDelay; first && delay > 0 {
		c.initial, c.newcomer = true, false
		c.roundLater(delay, func() { c.endInitialLocked(c.rebalanceTimeoutLocked() - delay) })
		return
	}
	c.roundLater(c.rebalanceTimeoutLocked(), c.completeJoinLocked)
	c.tryCompleteJoinLocked()
}

// roundLater calls f with the lock held, unless the round has ended by then.
func (c *coordinator) roundLater(d time.Duration, f func()) {
	c.round++
	round := c.round
	time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.round == round {
			f()
		}
	})
}

// endInitialLocked waits once more when members came during the delay (InitialDelayedJoin.onComplete).
func (c *coordinator) endInitialLocked(left time.Duration) {
	if !c.newcomer || left <= 0 {
		c.completeJoinLocked()
		return
	}
	c.newcomer = false
	delay := min(c.cluster.settings.InitialRebalanceDelay, left)
	c.roundLater(delay, func() { c.endInitialLocked(left - delay) })
}

func (c *coordinator) tryCompleteJoinLocked() {
	if c.state != preparing || len(c.promised) > 0 || c.initial {
		return
	}
	for _, m := range c.members {
		if m.joining == nil {
			return
		}
	}
	c.completeJoinLocked()
}

// completeJoinLocked begins the next generation with those who joined. Dynamic members that did not are removed although they heartbeat;
// static ones stay until their session ends (GroupCoordinator.onCompleteJoin).
func (c *coordinator) completeJoinLocked() {
	c.initial = false
	var joined []*member
	for _, m := range c.snapshotLocked() {
		switch {
		case m.joining != nil:
			joined = append(joined, m)
		case m.instance == "":
			c.removeLocked(m)
		}
	}
	switch {
	case len(c.members) == 0:
		c.becomeEmptyLocked()
	case len(joined) == 0:
		c.roundLater(c.rebalanceTimeoutLocked(), c.completeJoinLocked)
	default:
		c.beginLocked(joined)
	}
}

func (c *coordinator) snapshotLocked() []*member {
	all := make([]*member, len(c.order))
	for i, id := range c.order {
		all[i] = c.members[id]
	}
	return all
}

func (c *coordinator) becomeEmptyLocked() {
	c.round++
	c.generation++
	c.state = empty
	c.leader, c.protocol = "", ""
}

func (c *coordinator) beginLocked(joined []*member) {
	c.generation++
	c.state = completing
	c.protocol = c.voteLocked()
	if l := c.members[c.leader]; l == nil || l.joining == nil {
		c.leader = joined[0].id
	}
	for _, m := range joined {
		c.unsynced[m.id] = struct{}{}
		m.seen = time.Now()
		m.answerJoin(c.welcomeLocked(m))
	}
	c.roundLater(c.rebalanceTimeoutLocked(), c.endSyncLocked)
}

// endSyncLocked removes those who joined but did not ask for their assignment in time (since Kafka 2.8, onExpirePendingSync).
func (c *coordinator) endSyncLocked() {
	late := false
	for id := range c.unsynced {
		c.removeLocked(c.members[id])
		late = true
	}
	if late {
		c.prepareLocked()
	}
}

// welcomeLocked is the answer to a join: the leader is told who the members are.
func (c *coordinator) welcomeLocked(m *member) *sarama.JoinGroupResponse {
	resp := &sarama.JoinGroupResponse{
		GenerationId: c.generation, GroupProtocol: c.protocol, LeaderId: c.leader, MemberId: m.id,
	}
	if m.id != c.leader {
		return resp
	}
	for _, o := range c.snapshotLocked() {
		member := sarama.GroupMember{MemberId: o.id, Metadata: o.metadata(c.protocol)}
		if o.instance != "" {
			member.GroupInstanceId = &o.instance
		}
		resp.Members = append(resp.Members, member)
	}
	return resp
}
