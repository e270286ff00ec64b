package assign

import (
	"cmp"
	"slices"
)

// fill gives partitions that nobody has to those that have least.
func (r *round) fill(c *class, n int) {
	for range n {
		spot, _ := c.poor.best()
		r.add(c, spot, 1)
	}
}

// level moves partitions as long as that makes the balance better. When it has returned no move does, and no chain of moves; and none of
// those that were moved, had being what each member had before, could as well have stayed.
func (r *round) level(had [][]int) {
	for better := true; better; {
		for _, c := range r.classes {
			r.shift(c)
		}
		better = r.chain()
	}
	for r.undo(had) {
	}
}

// shift moves partitions of a class from those that have most to those that have least.
func (r *round) shift(c *class) {
	for {
		from, loss := c.rich.best()
		to, cost := c.poor.best()
		if loss <= -cost || loss == never || cost == never {
			return
		}
		r.add(c, from, -1)
		r.add(c, to, 1)
	}
}

// undo gives back what was moved in vain, and says whether there was something: one thing given back may show the next. Within one class
// nothing is; but what one class moves may be balanced by another one later.
func (r *round) undo(had [][]int) (some bool) {
	if len(r.classes) < 2 {
		return false
	}
	for i, c := range r.classes {
		gave, got := c.changes(had[i])
		for _, to := range gave {
			for _, from := range got {
				// The numbers are looked at again, so that this ends whatever the weights are.
				if c.n[to] < had[i][to] && c.n[from] > had[i][from] {
					some = r.giveBack(c, from, to) || some
				}
			}
		}
	}
	return some
}

// changes are the spots that have fewer than before, and those that have more.
func (c *class) changes(had []int) (gave, got []int) {
	for spot := range had {
		switch {
		case c.n[spot] < had[spot]:
			gave = append(gave, spot)
		case c.n[spot] > had[spot]:
			got = append(got, spot)
		}
	}
	return gave, got
}

// giveBack moves a partition if the balance is no worse for it.
func (r *round) giveBack(c *class, from, to int) bool {
	if r.holders[c.members[from]].loss() < r.holders[c.members[to]].cost() {
		return false
	}
	r.add(c, from, -1)
	r.add(c, to, 1)
	return true
}

// chain finds members of which none has a topic with the next but one in common: the first gives the second a partition, and that one gives
// the third one of another topic. It makes one such chain of moves, the shortest one that ends with a member that has least.
func (r *round) chain() bool {
	if len(r.classes) < 2 {
		return false
	}
	s := search{round: r, seen: make([]bool, len(r.holders)), done: map[*class]bool{}, next: make([]step, len(r.holders))}
	for _, h := range r.poorestFirst() {
		if from := s.richer(h); from != nil {
			s.apply(from, h)
			return true
		}
	}
	return false
}

func (r *round) poorestFirst() []*holder {
	poorest := slices.DeleteFunc(slices.Clone(r.holders), func(h *holder) bool { return len(h.places) == 0 })
	slices.SortStableFunc(poorest, func(a, b *holder) int { return cmp.Compare(a.cost(), b.cost()) })
	return poorest
}

// search looks for a member from which a chain of moves leads to a poorer one. What it has seen in vain it need not see again: it begins
// with the poorest, and whoever is not rich enough for that one is so for no other.
type search struct {
	*round
	seen []bool
	done map[*class]bool
	next []step // by holder: how a partition gets on from there
}

// step gives a partition of a class to another member.
type step struct {
	class    *class
	from, to int // spots
}

func (s *search) richer(poor *holder) *holder {
	if s.seen[poor.index] {
		return nil
	}
	s.seen[poor.index] = true
	for queue := []*holder{poor}; len(queue) > 0; queue = queue[1:] {
		for _, p := range queue[0].places {
			givers := s.givers(p)
			for _, h := range givers {
				if h.loss() > poor.cost() {
					return h
				}
			}
			queue = append(queue, givers...)
		}
	}
	return nil
}

// givers returns the members that can give a partition of the class, and have not been seen.
func (s *search) givers(to place) (found []*holder) {
	c := to.class
	if s.done[c] {
		return nil
	}
	s.done[c] = true
	for spot, i := range c.members {
		if !s.seen[i] && c.free(spot) {
			s.seen[i], s.next[i] = true, step{c, spot, to.spot}
			found = append(found, s.holders[i])
		}
	}
	return found
}

func (s *search) apply(from, poor *holder) {
	for h := from; h != poor; {
		x := s.next[h.index]
		s.add(x.class, x.from, -1)
		s.add(x.class, x.to, 1)
		h = s.holders[x.class.members[x.to]]
	}
}
