package fakegroup

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

// addLocked makes the member that req describes.
func (c *coordinator) addLocked(id string, req *sarama.JoinGroupRequest) *member {
	m := &member{id: id}
	if req.GroupInstanceId != nil {
		m.instance = *req.GroupInstanceId
		c.static[m.instance] = id
	}
	m.update(req)
	c.members[id] = m
	c.order = append(c.order, id)
	c.newcomer = true
	c.watchLocked(m)
	return m
}

// update takes over what a join says.
func (m *member) update(req *sarama.JoinGroupRequest) {
	m.session = time.Duration(req.SessionTimeout) * time.Millisecond
	m.rebalance = time.Duration(req.RebalanceTimeout) * time.Millisecond
	if req.Version == 0 {
		m.rebalance = m.session
	}
	m.protocols = req.OrderedGroupProtocols
}

// removeLocked forgets m and answers what it waits for.
func (c *coordinator) removeLocked(m *member) {
	m.answerJoin(&sarama.JoinGroupResponse{Err: sarama.ErrUnknownMemberId})
	m.answerSync(&sarama.SyncGroupResponse{Err: sarama.ErrUnknownMemberId})
	delete(c.members, m.id)
	delete(c.unsynced, m.id)
	c.order = slices.DeleteFunc(c.order, func(id string) bool { return id == m.id })
	if m.instance != "" && c.static[m.instance] == m.id {
		delete(c.static, m.instance)
	}
}

func (m *member) answerJoin(resp *sarama.JoinGroupResponse) {
	if m.joining != nil {
		m.joining.answer(resp)
		m.joining = nil
	}
}

func (m *member) answerSync(resp *sarama.SyncGroupResponse) {
	if m.syncing != nil {
		m.syncing.answer(resp)
		m.syncing = nil
	}
}

// metadata returns what the member says under a protocol.
func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

// offers says whether m offers the protocol.
func (m *member) offers(protocol string) bool {
	return slices.ContainsFunc(m.protocols, func(p *sarama.GroupProtocol) bool { return p.Name == protocol })
}

// matches says whether a join repeats what the member said before (MemberMetadata.matches).
func (m *member) matches(protocols []*sarama.GroupProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b *sarama.GroupProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

func (c *coordinator) newMemberIDLocked(client string) string {
	c.nextID++
	return fmt.Sprintf("%s-%d", client, c.nextID)
}

// commonLocked lists the protocols that all members offer, in the first member's order of preference.
func (c *coordinator) commonLocked() []string {
	var common []string
	for _, p := range c.members[c.order[0]].protocols {
		if c.allOfferLocked(p.Name) {
			common = append(common, p.Name)
		}
	}
	return common
}

func (c *coordinator) allOfferLocked(protocol string) bool {
	for _, m := range c.members {
		if !m.offers(protocol) {
			return false
		}
	}
	return true
}

// voteLocked chooses the protocol: each member votes for its first choice among the common ones (GroupMetadata.selectProtocol).
func (c *coordinator) voteLocked() string {
	common := c.commonLocked()
	votes := make(map[string]int)
	for _, m := range c.members {
		i := slices.IndexFunc(m.protocols, func(p *sarama.GroupProtocol) bool { return slices.Contains(common, p.Name) })
		votes[m.protocols[i].Name]++
	}
	return slices.MaxFunc(common, func(a, b string) int { return votes[a] - votes[b] })
}

// fitsLocked says whether a newcomer has a protocol in common with the whole group.
func (c *coordinator) fitsLocked(protocols []*sarama.GroupProtocol) bool {
	if len(c.members) == 0 {
		return len(protocols) > 0
	}
	return slices.ContainsFunc(protocols, func(p *sarama.GroupProtocol) bool { return c.allOfferLocked(p.Name) })
}

// rebalanceTimeoutLocked is the longest of all members (GroupMetadata.rebalanceTimeoutMs).
func (c *coordinator) rebalanceTimeoutLocked() time.Duration {
	var longest time.Duration
	for m := range maps.Values(c.members) {
		longest = max(longest, m.rebalance)
	}
	return longest
}
