package assign

import (
	"cmp"
	"slices"
)

// stay is the plan where planning has failed: each partition stays with the first member, by id, that runs a task there, else with the
// first that owns it, and what nobody has is dealt in turns. It is as simple as can be, and has nothing in common with what has failed.
func stay(members []Member, topics Partitions) *Plan {
	members = slices.SortedFunc(slices.Values(members), func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	p := &Plan{Shares: map[string]Share{}}
	taken := map[string]map[int32]bool{}
	for topic, numbers := range topics {
		taken[topic] = map[int32]bool{}
		for _, number := range numbers {
			taken[topic][number] = false
		}
	}
	for _, of := range []func(Member) Partitions{busyOf, heldOf, ownedOf} {
		for _, m := range members {
			p.keep(m, of(m), taken)
		}
	}
	for _, m := range members {
		s := p.Shares[m.ID]
		s.Drained = m.Report != nil && m.Report.Draining
		p.Shares[m.ID] = s
	}
	for topic, numbers := range topics {
		p.dealOut(topic, numbers, members, taken[topic])
	}
	return p
}

func busyOf(m Member) Partitions {
	if m.Report == nil {
		return nil
	}
	return m.Report.Busy
}

func heldOf(m Member) Partitions { return m.Held }

func ownedOf(m Member) Partitions {
	if m.Report == nil {
		return nil
	}
	return m.Report.Owned
}

// keep gives a member what it has. A claim of one that may not keep it is respected: the partition is free in the next round.
func (p *Plan) keep(m Member, has Partitions, taken map[string]map[int32]bool) {
	for topic, numbers := range has {
		for _, number := range numbers {
			if already, exists := taken[topic][number]; already || !exists {
				continue
			}
			taken[topic][number] = true
			if slices.Contains(m.Topics, topic) {
				p.grant(m.ID, topic, number)
			}
		}
	}
}

func (p *Plan) grant(id, topic string, number int32) {
	s := p.Shares[id]
	s.Assigned.Add(topic, number)
	p.Shares[id] = s
}

func (p *Plan) dealOut(topic string, numbers []int32, members []Member, taken map[int32]bool) {
	may := slices.DeleteFunc(slices.Clone(members), func(m Member) bool {
		return !slices.Contains(m.Topics, topic) || m.Report != nil && (m.Report.Draining || m.Report.Ghost)
	})
	for i, number := range ascending(numbers) {
		switch {
		case taken[number]:
		case len(may) == 0:
			p.Unserved.Add(topic, number)
		default:
			p.grant(may[i%len(may)].ID, topic, number)
		}
	}
}
