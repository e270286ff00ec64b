package assign

import "slices"

// class is a set of topics that the same members may have. To the balance its partitions are equal, so that it is a matter of numbers.
type class struct {
	members []int // holders by index
	n       []int // how many each of them gets
	bound   []int // how many of these cannot go to another one
	rich    tournament
	poor    tournament
}

// place is a member in a class.
type place struct {
	class *class
	spot  int
}

func (r *round) newClass(members []int) *class {
	n := len(members)
	c := &class{members: members, n: make([]int, n), bound: make([]int, n), rich: newTournament(n), poor: newTournament(n)}
	for spot, i := range members {
		r.holders[i].places = append(r.holders[i].places, place{c, spot})
	}
	r.classes = append(r.classes, c)
	return c
}

// spot is where a holder is in the class. ok is false where it may not have its partitions.
func (c *class) spot(holder int) (i int, ok bool) { return slices.BinarySearch(c.members, holder) }

// loss is how much the balance gains when the member has one less, and cost how much it loses with one more. The balance is the sum of
// n*n/weight: it is best where each has its share, and it tells for any two members whether a partition is better with the other one.
func (h *holder) loss() float64 { return float64(2*h.n-1) / h.weight }
func (h *holder) cost() float64 { return float64(2*h.n+1) / h.weight }

// add gives a member one more partition, or one less.
func (r *round) add(c *class, spot, by int) {
	c.n[spot] += by
	h := r.holders[c.members[spot]]
	h.n += by
	h.weighIn()
}

// weighIn tells the classes of a member that its numbers have changed.
func (h *holder) weighIn() {
	for _, p := range h.places {
		p.class.poor.set(p.spot, -h.cost())
		if p.class.free(p.spot) {
			p.class.rich.set(p.spot, h.loss())
		} else {
			p.class.rich.set(p.spot, never)
		}
	}
}

// free says that a member has partitions which may go to another one.
func (c *class) free(spot int) bool { return c.n[spot] > c.bound[spot] }

// reset lets each member have these numbers.
func (r *round) reset(n [][]int) {
	for _, h := range r.holders {
		h.n = 0
	}
	for i, c := range r.classes {
		copy(c.n, n[i])
		for spot, m := range c.members {
			r.holders[m].n += c.n[spot]
		}
	}
}

func (r *round) numbers() [][]int {
	n := make([][]int, len(r.classes))
	for i, c := range r.classes {
		n[i] = slices.Clone(c.n)
	}
	return n
}
