package strategy

import (
	"maps"
	"slices"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// Name is that of the strategy that leaves running tasks alone, in JoinGroup and in DescribeGroups. Members of both protocols share it.
const Name = "evenkeel"

// Word is what the leader tells a member beside its partitions. Known is false where the leader is of another kind: it has told nothing.
type Word struct {
	assign.Assignment
	Known bool
}

// Member is the member whose strategy it is. Its methods are called on sarama's rebalance path and must not block.
type Member interface {
	// Report is called before each join, and says what the leader is told. The same state has to give the same report.
	Report() assign.Report
	// Assigned is called with each assignment as soon as it is received: see [Listener].
	Assigned(a Assignment, w Word, generation int32)
	// Crowded is called, once, where the data of all members together is about to be too long for the broker.
	Crowded(bytes int)
	// Planned is called where the member leads a round, with the plan that it has made.
	Planned(p *assign.Plan)
}

// Preserving is the strategy that takes no partition from a member in the middle of a task: see package assign for its rules. It belongs to
// one member of one group. sarama calls its methods one after another.
type Preserving struct {
	member   Member
	protocol sarama.RebalanceProtocol
	complete func(*assign.Report)
	follow   func(*assign.Plan)
	attend   func(Word)
	plan     *assign.Plan // of the latest round that this member has led
	lead     lead
	stamped  int32 // since when all stamp, as the latest assignment has said
	said     int   // bytes of the latest report
	crowded  bool  // it was told
}

// recordLimit is how long the reports of a group may be before it is told: a broker keeps them in one record, which is 1 MB at most by
// default, with what else there is to know of the members.
const recordLimit = 500_000

var (
	_ sarama.SubscriptionUserDataBalanceStrategy = (*Preserving)(nil)
	_ sarama.OnAssignmentBalanceStrategy         = (*Preserving)(nil)
	_ sarama.RebalanceProtocolBalanceStrategy    = (*Preserving)(nil)
)

// NewPreserving makes the strategy of a member, which rebalances by the protocol.
func NewPreserving(m Member, protocol sarama.RebalanceProtocol) *Preserving {
	return &Preserving{member: m, protocol: protocol, complete: func(*assign.Report) {}, follow: func(*assign.Plan) {}, attend: func(Word) {}}
}

// Complete lets f add to each report what the member does not know.
func (p *Preserving) Complete(f func(*assign.Report)) { p.complete = f }

// Follow lets f hear of each plan too, after the member.
func (p *Preserving) Follow(f func(*assign.Plan)) { p.follow = f }

// Attend lets f hear what the leader says too, after the member.
func (p *Preserving) Attend(f func(Word)) { p.attend = f }

// Name implements sarama.BalanceStrategy.
func (*Preserving) Name() string { return Name }

// SupportedProtocols implements sarama.RebalanceProtocolBalanceStrategy. It is one: sarama takes the newest one that is there.
func (p *Preserving) SupportedProtocols() []sarama.RebalanceProtocol {
	return []sarama.RebalanceProtocol{p.protocol}
}

// SubscriptionUserData implements sarama.SubscriptionUserDataBalanceStrategy. It never fails.
func (p *Preserving) SubscriptionUserData(topics []string) ([]byte, error) {
	r := p.member.Report()
	p.complete(&r)
	p.lead.join(r.Owner)
	if r.Generation > 0 {
		r.StampedSince = p.stamped
	}
	data := r.Encode(topics)
	p.said = len(data)
	return data, nil
}

// Plan implements sarama.BalanceStrategy. It never fails: without a plan no group forms, and the next leader would fail alike.
func (p *Preserving) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	list := make([]assign.Member, 0, len(members))
	for id, m := range members {
		list = append(list, memberOf(id, m))
	}
	p.plan = assign.Decide(list, topics)
	p.plan.Vouch(p.lead.next(list))
	p.member.Planned(p.plan)
	p.follow(p.plan)
	plan := make(sarama.BalanceStrategyPlan, len(members))
	for id, share := range p.plan.Shares {
		plan[id] = share.Assigned
		if plan[id] == nil {
			plan[id] = map[string][]int32{} // else it would be sent nothing, and not hear of it
		}
	}
	return plan, nil
}

// memberOf reads what a member says. Data that says nothing to us is no report.
func memberOf(id string, m sarama.ConsumerGroupMemberMetadata) assign.Member {
	held := assign.Partitions{}
	for _, o := range m.OwnedPartitions {
		if o != nil {
			held[o.Topic] = append(held[o.Topic], o.Partitions...)
		}
	}
	report, _ := assign.ParseReport(m.UserData, m.Topics)
	return assign.Member{ID: id, Topics: m.Topics, Held: held, Generation: m.GenerationID, Report: report}
}

// AssignmentData implements sarama.BalanceStrategy. sarama calls it after Plan, for each member of the plan.
func (p *Preserving) AssignmentData(memberID string, topics map[string][]int32, generation int32) ([]byte, error) {
	var a assign.Assignment
	if p.plan != nil {
		a = p.plan.Assignment(memberID, generation)
	}
	p.lead.made(assign.Led{Generation: generation, StampedSince: a.StampedSince})
	return a.Encode(names(topics)), nil
}

// OnAssignment implements sarama.OnAssignmentBalanceStrategy.
func (p *Preserving) OnAssignment(a *sarama.ConsumerGroupMemberAssignment, generation int32) {
	said, err := assign.ParseAssignment(a.UserData, names(a.Topics))
	p.stamped = said.StampedSince
	if sum := said.Members * p.said; sum > recordLimit && !p.crowded {
		p.crowded = true
		p.member.Crowded(sum)
	}
	w := Word{said, err == nil}
	p.member.Assigned(assignmentOf(a.Topics), w, generation)
	p.attend(w)
}

func names(topics map[string][]int32) []string { return slices.Sorted(maps.Keys(topics)) }
