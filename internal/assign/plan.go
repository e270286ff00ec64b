package assign

// Member is a member of the group as the leader sees it in a round.
type Member struct {
	ID         string
	Topics     []string   // its subscription
	Held       Partitions // that its subscription says it owns (OwnedPartitions): the claims of a cooperative member, which live on
	Generation int32      // in its subscription; counts where there is no report
	Report     *Report    // nil where its user data says nothing to us: it is idle, and owns nothing but what it holds
}

// Plan is what the leader decides in a round.
type Plan struct {
	Shares   map[string]Share // by member, for each of them
	Moved    []Move           // those that change from an owner to another one
	Withheld []Move           // those that go to nobody in this round: From has let go of them when the next one begins
	Unserved Partitions       // those that nobody may have: all who subscribe to the topic drain
	Failure  any              // what a panic was about; the plan then leaves all where it is

	members int
	stamped stamped
}

// Share is what a member gets.
type Share struct {
	Assigned Partitions
	HandOver Partitions // of these; see [Assignment]
	Stop     Partitions // of these; see [Assignment]
	Drained  bool
}

// Move is a partition that goes from a member to another one. From is empty where nobody owned it, To where it is not yet known.
type Move struct {
	Topic     string
	Partition int32
	From, To  string
}

// Assignment returns what a member is told beside its partitions, in the generation that the round has made.
func (p *Plan) Assignment(id string, generation int32) Assignment {
	s := p.Shares[id]
	return Assignment{
		Members: p.members, StampedSince: p.stamped.since(generation),
		Drained: s.Drained, HandOver: s.HandOver, Stop: s.Stop,
	}
}

// Led is the latest round that a leader has led. The zero value is none.
type Led struct {
	Generation   int32 // that the round has made
	StampedSince int32 // what its assignments said, whether or not anybody has received one
}

// Vouch lets the leader bear witness to a round that it has led itself. Where rounds follow so fast that nobody receives an assignment of the
// generation before, no report tells of that one. It counts for the generation after it, and for its own where that is planned again.
// Nobody may have led a round since, and the group must be the same: in another life of it others have had the same numbers.
func (p *Plan) Vouch(l Led) { p.stamped.led = l }

// Decide makes the plan of a round out of its members and the partitions of their topics. It is total: whatever is told, it returns a
// plan that has each member and each partition, and it changes nothing of what it is given. Members have different ids.
func Decide(members []Member, topics Partitions) *Plan {
	return despite(decide, members, topics)
}

func decide(members []Member, topics Partitions) *Plan {
	r := newRound(members, topics)
	r.claims()
	r.place()
	r.mark()
	return r.plan()
}

// despite plans in a simpler way where the first one panics: without a plan no group forms, and the next leader fails in the same way.
func despite(first func([]Member, Partitions) *Plan, members []Member, topics Partitions) (p *Plan) {
	defer func() {
		if failure := recover(); failure != nil {
			p = stay(members, topics)
			p.Failure = failure
		}
	}()
	return first(members, topics)
}
