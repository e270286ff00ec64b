package assign_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// key is a partition.
type key struct {
	topic  string
	number int32
}

// naive looks at one partition after another, and knows of each what a plan may do with it.
type naive struct {
	members []assign.Member // by id
	topics  assign.Partitions
	newest  int32
}

// standing is what the members say of a partition.
type standing struct {
	owner  string // the one with the highest generation; among equals one that is busy, and then the first one
	stuck  bool   // as the owner says
	fixed  bool   // some task runs there
	idle   bool   // none of the owner's
	may    []string
	holds  []string // whose claims live on
	busy   []string
	rivals int // that claim it with the same right
}

func newNaive(members []assign.Member, topics assign.Partitions) *naive {
	n := &naive{topics: topics, members: slices.Clone(members)}
	slices.SortFunc(n.members, func(a, b assign.Member) int { return cmp.Compare(a.ID, b.ID) })
	owners := map[uint64]int{}
	for i, m := range n.members {
		if m.Report == nil {
			n.members[i].Report = &assign.Report{Generation: m.Generation}
			continue
		}
		r := *m.Report
		n.members[i].Report = &r
		n.newest = max(n.newest, r.Generation)
		if r.Ghost {
			continue
		}
		if j, twice := owners[r.Owner]; twice {
			other := n.members[j].Report
			if other.Generation > r.Generation || other.Generation == r.Generation && other.Requests > r.Requests {
				n.members[i].Report.Ghost = true
				continue
			}
			other.Ghost = true
		}
		owners[r.Owner] = i
	}
	return n
}

// keys are the partitions of all topics that somebody subscribes to.
func (n *naive) keys() (all []key) {
	for topic, numbers := range n.topics {
		for _, number := range numbers {
			k := key{topic, number}
			subscribed := slices.ContainsFunc(n.members, func(m assign.Member) bool { return slices.Contains(m.Topics, topic) })
			if subscribed && number >= 0 && !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, func(a, b key) int { return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.number, b.number)) })
	return all
}

func has(s assign.Partitions, k key) bool { return slices.Contains(s[k.topic], k.number) }

func (n *naive) standing(k key, known func(id string) bool) (s standing) {
	best := int32(math.MinInt32)
	bestBusy := false
	var unsure []string
	for _, m := range n.members {
		r := m.Report
		if has(m.Held, k) {
			s.holds = append(s.holds, m.ID)
		}
		if r.Ghost || !slices.Contains(m.Topics, k.topic) {
			continue
		}
		if !r.Draining {
			s.may = append(s.may, m.ID)
		}
		owned := has(m.Held, k) || has(r.Owned, k)
		busy := has(r.Busy, k) || owned && (r.CutShort || known(m.ID) && r.Generation < n.newest)
		if has(r.Busy, k) || owned && r.CutShort {
			s.busy = append(s.busy, m.ID)
		} else if busy {
			unsure = append(unsure, m.ID)
		}
		if !owned && !busy {
			continue
		}
		if r.Generation == best {
			s.rivals++
		}
		if r.Generation > best {
			s.rivals = 0
		}
		if r.Generation > best || r.Generation == best && busy && !bestBusy {
			best, bestBusy, s.owner, s.stuck = r.Generation, busy, m.ID, has(r.Stuck, k)
		}
	}
	if slices.Contains(unsure, s.owner) {
		s.busy = append(s.busy, s.owner)
	}
	s.fixed, s.idle = len(s.busy) > 0, !slices.Contains(s.busy, s.owner)
	return s
}

// problem is what the balance is about: who may have which partitions that nothing binds, beside those that they have in any case.
type problem struct {
	weight map[string]float64
	n      map[string]int
	loose  []standing
}

func (n *naive) problem(standings []standing) *problem {
	p := &problem{weight: map[string]float64{}, n: map[string]int{}}
	least := math.MaxInt
	for _, m := range n.members {
		if m.Report.Slots > 0 {
			least = min(least, m.Report.Slots)
		}
	}
	if least == math.MaxInt {
		least = 1
	}
	for _, m := range n.members {
		p.weight[m.ID] = float64(cmp.Or(m.Report.Slots, least))
	}
	for _, s := range standings {
		switch {
		case len(s.may) == 0:
		case !s.fixed:
			p.loose = append(p.loose, s)
		case slices.Contains(s.may, s.owner):
			p.n[s.owner]++
		}
	}
	return p
}

func (p *problem) value(n map[string]int) (v float64) {
	for id, count := range n {
		v += float64(count*count) / p.weight[id]
	}
	return v
}

// best is the best balance that there is, and the fewest moves with which it is reached.
func (p *problem) best() (value float64, moves int) {
	value, moves = math.Inf(1), math.MaxInt
	n := maps.Clone(p.n)
	var try func(i, moved int)
	try = func(i, moved int) {
		if i == len(p.loose) {
			switch v := p.value(n); {
			case v < value-1e-9:
				value, moves = v, moved
			case v < value+1e-9:
				moves = min(moves, moved)
			}
			return
		}
		s := p.loose[i]
		for _, id := range s.may {
			n[id]++
			more := 0
			if slices.Contains(s.may, s.owner) && id != s.owner {
				more = 1
			}
			try(i+1, moved+more)
			n[id]--
		}
	}
	try(0, 0)
	return value, moves
}

// where tells of each partition who gets it, in this round or in the next.
func where(t *testing.T, p *assign.Plan) map[key]string {
	t.Helper()
	at := map[key]string{}
	put := func(k key, id string) {
		if old, twice := at[k]; twice {
			t.Fatalf("%v is given to %q and to %q", k, old, id)
		}
		at[k] = id
	}
	for id, s := range p.Shares {
		for topic, numbers := range s.Assigned {
			for _, number := range numbers {
				put(key{topic, number}, id)
			}
		}
	}
	for _, m := range p.Withheld {
		put(key{m.Topic, m.Partition}, m.To)
	}
	return at
}
