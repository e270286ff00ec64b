package assign

import "cmp"

// mark chooses the busy partitions that their owners are to hand over: those that would have to go if nothing ran. What is marked already
// goes first; the others come in only where that is not enough. The marks are then checked once more by themselves, so that the plan
// of the next round, in which they are what is marked already, makes the same choice.
func (r *round) mark() {
	n, order := r.numbers(), r.bySpot(func(*part) bool { return true }, firstToGo)
	try := func(may ...func(*part) bool) int {
		r.reset(n)
		r.expect()
		for _, m := range may {
			r.unbind(m)
			r.level(n)
		}
		return r.choose(n, order)
	}
	count := try(func(p *part) bool { return p.marked }, func(*part) bool { return true })
	for before := -1; count != before; {
		count, before = try(func(p *part) bool { return p.leaves }), count
	}
	r.markDrained()
}

// expect gives the partitions of members that drain to those that will have them.
func (r *round) expect() {
	r.weighAll()
	for i := range r.parts {
		if p := &r.parts[i]; r.drains(p) {
			r.fill(p.topic.class, 1)
		}
	}
}

// drains says that a partition is with a member that drains, and that others may have it.
func (r *round) drains(p *part) bool {
	return p.at != nobody && !r.holders[p.at].open() && len(p.topic.class.members) > 0
}

// unbind lets partitions move on which nothing runs, and of the others those for which may returns true. Those that cannot be handed over
// stay.
func (r *round) unbind(may func(*part) bool) {
	for _, c := range r.classes {
		clear(c.bound)
	}
	for i := range r.parts {
		p := &r.parts[i]
		p.stays = !r.balanced(p) || p.fixed() && (p.waits() || !may(p))
		if p.stays && r.balanced(p) {
			p.topic.class.bound[p.spot]++
		}
	}
	r.weighAll()
}

// choose takes, of each member that is to have fewer than n says, those that go first, and returns how many of them are busy.
func (r *round) choose(n [][]int, order map[*class][][]*part) (count int) {
	for i, c := range r.classes {
		for spot, parts := range order[c] {
			count += choose(parts, n[i][spot]-c.n[spot])
		}
	}
	return count
}

func choose(parts []*part, n int) (count int) {
	for _, p := range parts {
		goes := !p.stays && n > 0
		if goes {
			n--
		}
		if p.leaves = goes && p.fixed(); p.leaves {
			count++
		}
	}
	return count
}

// markDrained has members that drain hand over all that others may have.
func (r *round) markDrained() {
	for i := range r.parts {
		if p := &r.parts[i]; r.drains(p) {
			p.leaves = !p.waits()
		}
	}
}

// firstToGo puts idle partitions first: they need no mark. A task past the hold limit comes last, for its mark stops it.
func firstToGo(a, b *part) int {
	return cmp.Or(compareBool(a.fixed(), b.fixed()), -compareBool(a.marked, b.marked), compareBool(a.over, b.over),
		-cmp.Compare(a.number, b.number), -inOrder(a, b))
}
