package assign

import "math"

// never is a key that wins against no other.
const never = -math.MaxFloat64

// tournament finds the highest of keys that change one at a time, and of equal ones the first.
type tournament struct {
	keys    []float64
	winners []int // a tree: those of node i are at 2i and 2i+1
	leaves  int   // a power of two
}

func newTournament(n int) tournament {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	t := tournament{keys: make([]float64, leaves), winners: make([]int, 2*leaves), leaves: leaves}
	for i := range leaves {
		t.keys[i], t.winners[leaves+i] = never, i
	}
	for i := leaves - 1; i > 0; i-- {
		t.winners[i] = t.better(i)
	}
	return t
}

func (t *tournament) set(i int, key float64) {
	if t.keys[i] == key {
		return
	}
	t.keys[i] = key
	for i = (t.leaves + i) / 2; i > 0; i /= 2 {
		t.winners[i] = t.better(i)
	}
}

func (t *tournament) better(node int) int {
	a, b := t.winners[2*node], t.winners[2*node+1]
	if t.keys[b] > t.keys[a] {
		return b
	}
	return a
}

// best returns the winner and its key.
func (t *tournament) best() (i int, key float64) {
	i = t.winners[1]
	return i, t.keys[i]
}
