package fakegroup

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

// generation is what a join and a sync brought.
type generation struct {
	memberID string
	id       int32
	claims   map[string][]int32
	leader   bool
	topics   map[string]int // partition counts of all subscribed topics, for the leader
}

// negotiate joins and syncs until there is an assignment or an error that sarama does not retry (consumer_group.go:346-540).
func (g *Group) negotiate(ctx context.Context, topics []string, h *held) (*generation, error) {
	for retries := g.cfg.Consumer.Group.Rebalance.Retry.Max; ; {
		gen, err := g.attempt(ctx, topics, h)
		switch {
		case err == nil:
			return gen, nil
		case errors.Is(err, errAgain):
			continue
		case !passing(err) || retries <= 0:
			return nil, err
		}
		retries--
		if err := g.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// errAgain asks for another attempt at once.
var errAgain = errors.New("join again")

// passing says whether sarama tries again after Rebalance.Retry.Backoff.
func passing(err error) bool {
	return errors.Is(err, sarama.ErrRebalanceInProgress) || errors.Is(err, sarama.ErrNotCoordinatorForConsumer) ||
		errors.Is(err, sarama.ErrConsumerCoordinatorNotAvailable) || errors.Is(err, sarama.ErrOffsetsLoadInProgress)
}

func (g *Group) pause(ctx context.Context) error {
	timer := time.NewTimer(g.cfg.Consumer.Group.Rebalance.Retry.Backoff)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-g.closed:
		return sarama.ErrClosedConsumerGroup
	case <-timer.C:
		return nil
	}
}

func (g *Group) attempt(ctx context.Context, topics []string, h *held) (*generation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	join, err := g.join(topics, h)
	if err != nil {
		return nil, err
	}
	s, err := strategy(g.cfg, join.GroupProtocol)
	if err != nil {
		return nil, err
	}
	gen := &generation{memberID: join.MemberId, id: join.GenerationId, leader: join.LeaderId == join.MemberId}
	if err := g.syncUp(s, join, gen, h); err != nil {
		return nil, err
	}
	return gen, nil
}

// join sends one JoinGroup request. It is deaf to the context, as sarama is: the answer ends it, or Net.ReadTimeout.
func (g *Group) join(topics []string, h *held) (*sarama.JoinGroupResponse, error) {
	time.Sleep(g.network.joinDelay())
	req, err := g.joinRequest(topics, h)
	if err != nil {
		return nil, err
	}
	join, err := wait(g.network, func() *reply[*sarama.JoinGroupResponse] { return g.coord.join(g.cfg.ClientID, req) })
	if err != nil {
		return nil, err
	}
	switch join.Err {
	case sarama.ErrNoError:
		g.setMemberID(join.MemberId)
		return join, nil
	case sarama.ErrMemberIdRequired:
		g.setMemberID(join.MemberId)
		return nil, errAgain
	default:
		return nil, g.refused(join.Err, h)
	}
}

// refused resets a lost member id: a member that holds claims gives up, another joins anew at once (consumer_group.go:397-403).
func (g *Group) refused(err sarama.KError, h *held) error {
	if err != sarama.ErrUnknownMemberId && err != sarama.ErrIllegalGeneration {
		return err
	}
	g.setMemberID("")
	if h != nil && len(h.claims) > 0 {
		return err
	}
	return errAgain
}

// syncUp plans if the member leads, and takes the assignment.
func (g *Group) syncUp(s sarama.BalanceStrategy, join *sarama.JoinGroupResponse, gen *generation, h *held) error {
	req := &sarama.SyncGroupRequest{MemberId: join.MemberId, GenerationId: join.GenerationId, GroupInstanceId: g.instance}
	if gen.leader {
		if err := g.plan(s, join, req, gen); err != nil {
			return err
		}
	}
	resp, err := wait(g.network, func() *reply[*sarama.SyncGroupResponse] { return g.coord.sync(req) })
	if err != nil {
		return err
	}
	if resp.Err != sarama.ErrNoError {
		if h != nil && passing(resp.Err) {
			h.generation = join.GenerationId
		}
		return g.refused(resp.Err, h)
	}
	return g.accept(s, resp, gen)
}

// plan asks the strategy. Members that it leaves out get an empty assignment (consumer_group.go:715-736).
func (g *Group) plan(s sarama.BalanceStrategy, join *sarama.JoinGroupResponse, req *sarama.SyncGroupRequest, gen *generation) error {
	members, err := join.GetMembers()
	if err != nil {
		return err
	}
	topics, err := g.subscribed(members)
	if err != nil {
		return err
	}
	gen.topics = make(map[string]int, len(topics))
	for topic, partitions := range topics {
		gen.topics[topic] = len(partitions)
	}
	plan, err := s.Plan(members, topics)
	if err != nil {
		return err
	}
	return addAssignments(s, plan, members, req)
}

// subscribed lists the partitions of all members' topics. One missing topic fails it.
func (g *Group) subscribed(members map[string]sarama.ConsumerGroupMemberMetadata) (map[string][]int32, error) {
	topics := make(map[string][]int32)
	for _, m := range members {
		for _, topic := range m.Topics {
			partitions, err := g.cluster.partitions(topic)
			if err != nil {
				return nil, err
			}
			topics[topic] = partitions
		}
	}
	return topics, nil
}

func addAssignments(
	s sarama.BalanceStrategy, plan sarama.BalanceStrategyPlan, members map[string]sarama.ConsumerGroupMemberMetadata, req *sarama.SyncGroupRequest,
) error {
	for id, topics := range plan {
		data, err := s.AssignmentData(id, topics, req.GenerationId)
		if err != nil {
			return err
		}
		if err := req.AddGroupAssignmentMember(id, &sarama.ConsumerGroupMemberAssignment{Topics: topics, UserData: data}); err != nil {
			return err
		}
		delete(members, id)
	}
	for id := range members {
		if err := req.AddGroupAssignmentMember(id, &sarama.ConsumerGroupMemberAssignment{}); err != nil {
			return err
		}
	}
	return nil
}

// accept decodes the assignment, keeps its user data for the next join and tells the strategy, before anything is revoked.
func (g *Group) accept(s sarama.BalanceStrategy, resp *sarama.SyncGroupResponse, gen *generation) error {
	if len(resp.MemberAssignment) == 0 {
		return nil
	}
	assignment, err := resp.GetMemberAssignment()
	if err != nil {
		return err
	}
	g.userData = assignment.UserData
	if g.userData == nil {
		g.userData = g.cfg.Consumer.Group.Member.UserData
	}
	if o, ok := s.(sarama.OnAssignmentBalanceStrategy); ok {
		o.OnAssignment(assignment, gen.id)
	}
	gen.claims = assignment.Topics
	for _, partitions := range gen.claims {
		slices.Sort(partitions)
	}
	return nil
}
