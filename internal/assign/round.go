package assign

import (
	"cmp"
	"slices"
)

// nobody stands for a holder that is none, several for one of more than one.
const (
	nobody  = -1
	several = -2
)

// round is what a plan is made of.
type round struct {
	holders []*holder // by id
	topics  map[string]*topic
	parts   []part // by topic and number
	classes []*class
	newest  int32 // the newest generation that a report is of
}

// holder is a member.
type holder struct {
	Member
	index      int
	report     Report // empty where there is none
	generation int32  // in which it got what it owns
	weight     float64
	ghost      bool // gets nothing and does not count
	places     []place
	n          int // how many partitions it gets, of all classes
}

// open says that it may get something new.
func (h *holder) open() bool { return !h.ghost && !h.report.Draining }

// topic is one that somebody subscribes to.
type topic struct {
	name        string
	numbers     []int32
	first       int   // of its partitions in the round's list
	subscribers []int // holders by index
	class       *class
}

// part is a partition.
type part struct {
	topic  *topic
	number int32

	owner    claim
	held     int  // who has a claim that lives through the round
	disputed bool // others claim it with the same right
	fought   bool // others run tasks there
	marked   bool // as the owner reports it, and so on
	over     bool
	stuck    bool

	at     int  // who gets it
	spot   int  // its index in the class
	stays  bool // it counts as one that cannot go, while marks are chosen
	leaves bool // the owner is to hand it over
}

// fixed says that the partition stays where it is in this round.
func (p *part) fixed() bool { return p.owner.busy || p.fought }

// waits says that the owner of a partition that stays can do nothing for it to go: its task does not return, or it has none, and the task is
// another member's. It would start nothing more and ask for rounds, in vain as long as that task runs.
func (p *part) waits() bool { return p.stuck || p.fought && !p.owner.busy }

func newRound(members []Member, topics Partitions) *round {
	r := &round{topics: map[string]*topic{}}
	r.admit(members)
	r.weigh()
	r.list(topics)
	r.classify()
	return r
}

// admit takes the members in, in the order of their ids.
func (r *round) admit(members []Member) {
	for _, m := range members {
		h := &holder{Member: m, generation: m.Generation}
		if m.Report != nil {
			h.report, h.generation = *m.Report, m.Report.Generation
			r.newest = max(r.newest, h.generation)
		}
		h.ghost = h.report.Ghost
		r.holders = append(r.holders, h)
	}
	slices.SortStableFunc(r.holders, func(a, b *holder) int { return cmp.Compare(a.ID, b.ID) })
	owners := map[uint64]*holder{}
	for i, h := range r.holders {
		h.index = i
		if h.Member.Report != nil && !h.ghost {
			owners[h.report.Owner] = younger(owners[h.report.Owner], h)
		}
	}
}

// younger lets one of two members with the same owner id be a ghost: they are one, which has come back under another member id.
func younger(a, b *holder) *holder {
	if a == nil {
		return b
	}
	if cmp.Or(cmp.Compare(a.generation, b.generation), cmp.Compare(a.report.Requests, b.report.Requests)) > 0 {
		a, b = b, a
	}
	a.ghost = true
	return b
}

// mostSlots bounds what a member weighs, so that the balance of any two can be told exactly.
const mostSlots = 1 << 16

// weigh gives those that do not tell their slots as many as the smallest of the others has.
func (r *round) weigh() {
	least := mostSlots
	for _, h := range r.holders {
		if h.report.Slots > 0 {
			least = min(least, h.report.Slots)
		}
	}
	for _, h := range r.holders {
		h.weight = float64(min(max(h.report.Slots, 0), mostSlots))
		if h.weight == 0 {
			h.weight = float64(least)
		}
	}
}

// list takes in the topics that somebody subscribes to, and their partitions.
func (r *round) list(topics Partitions) {
	for _, h := range r.holders {
		for _, name := range named(h.Topics) {
			t := r.topics[name]
			if t == nil {
				t = &topic{name: name, numbers: ascending(topics[name])}
				r.topics[name] = t
			}
			t.subscribers = append(t.subscribers, h.index)
		}
	}
	for _, t := range r.inOrder() {
		t.first = len(r.parts)
		for _, number := range t.numbers {
			r.parts = append(r.parts, part{topic: t, number: number, owner: claim{by: nobody}, held: nobody, at: nobody})
		}
	}
}

func (r *round) inOrder() []*topic {
	topics := make([]*topic, 0, len(r.topics))
	for _, t := range r.topics {
		topics = append(topics, t)
	}
	slices.SortFunc(topics, func(a, b *topic) int { return cmp.Compare(a.name, b.name) })
	return topics
}

// classify puts topics that the same members may have into one class.
func (r *round) classify() {
	classes := map[string]*class{}
	for _, t := range r.inOrder() {
		var members []int
		var key []byte
		for _, i := range t.subscribers {
			if r.holders[i].open() {
				members, key = append(members, i), appendUvarint(key, i)
			}
		}
		c := classes[string(key)]
		if c == nil {
			c = r.newClass(members)
			classes[string(key)] = c
		}
		t.class = c
	}
}
