package assign

import (
	"cmp"
	"slices"
)

// place gives each partition to a member. Those whose tasks run stay where they are, the others follow the balance; with the owner stay
// as many as it may have.
func (r *round) place() {
	loose := map[*class][]*part{}
	for i := range r.parts {
		p := &r.parts[i]
		if r.settle(p) {
			loose[p.topic.class] = append(loose[p.topic.class], p)
		}
	}
	had := r.numbers()
	r.weighAll()
	for _, c := range r.classes {
		if len(c.members) > 0 {
			r.fill(c, len(loose[c]))
		}
	}
	r.level(had)
	r.handOut(loose)
}

// settle leaves a partition with its owner at first. It returns true where it has none that may keep it.
func (r *round) settle(p *part) (loose bool) {
	c := p.topic.class
	if p.owner.by == nobody {
		return true
	}
	spot, ok := c.spot(p.owner.by)
	if !ok {
		loose = !p.fixed() && len(c.members) > 0 // it drains
		if !loose {
			p.at = p.owner.by
		}
		return loose
	}
	p.at, p.spot = p.owner.by, spot
	c.n[spot]++
	r.holders[p.at].n++
	if p.fixed() {
		c.bound[spot]++
	}
	return false
}

func (r *round) weighAll() {
	for _, h := range r.holders {
		h.weighIn()
	}
}

// handOut lets members keep what they own, as many as they get, and deals the others in turns, so that the partitions of a topic are spread.
func (r *round) handOut(loose map[*class][]*part) {
	kept := r.bySpot(func(p *part) bool { return !p.fixed() }, lastToGo)
	for _, c := range r.classes {
		for spot, parts := range kept[c] {
			stays := min(c.n[spot]-c.bound[spot], len(parts))
			loose[c] = append(loose[c], parts[stays:]...)
			kept[c][spot] = parts[:stays]
		}
		if len(c.members) > 0 {
			slices.SortFunc(loose[c], inOrder)
			r.deal(c, loose[c], kept[c])
		}
	}
}

func (r *round) deal(c *class, parts []*part, kept [][]*part) {
	want := make([]int, len(c.n))
	for spot := range want {
		want[spot] = c.n[spot] - c.bound[spot] - len(kept[spot])
	}
	for spot := 0; len(parts) > 0; spot = (spot + 1) % len(want) {
		if want[spot] > 0 {
			want[spot]--
			parts[0].at, parts[0].spot = c.members[spot], spot
			parts = parts[1:]
		}
	}
}

// bySpot lists, for each class and each member in it, the partitions that are there, in the given order.
func (r *round) bySpot(which func(*part) bool, order func(a, b *part) int) map[*class][][]*part {
	lists := map[*class][][]*part{}
	for _, c := range r.classes {
		lists[c] = make([][]*part, len(c.members))
	}
	for i := range r.parts {
		p := &r.parts[i]
		if c := p.topic.class; r.balanced(p) && which(p) {
			lists[c][p.spot] = append(lists[c][p.spot], p)
		}
	}
	for _, l := range lists {
		for _, parts := range l {
			slices.SortFunc(parts, order)
		}
	}
	return lists
}

// balanced says that a partition is with a member that counts in the balance: one that drains does not.
func (r *round) balanced(p *part) bool { return p.at != nobody && r.holders[p.at].open() }

// inOrder sorts by topic and number.
func inOrder(a, b *part) int {
	return cmp.Or(cmp.Compare(a.topic.first, b.topic.first), cmp.Compare(a.number, b.number))
}

// lastToGo puts the partitions that are marked behind the others: nothing was started there. It goes by number before topic, so that what
// goes is not all of one topic.
func lastToGo(a, b *part) int {
	return cmp.Or(compareBool(a.marked, b.marked), cmp.Compare(a.number, b.number), inOrder(a, b))
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
