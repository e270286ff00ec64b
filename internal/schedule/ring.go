package schedule

// Ring is the order in which ready claims are served: each once in turn. An element may be in it once only; the caller knows.
// The zero value is an empty ring. Push and Pop take constant time, amortised.
type Ring[T comparable] struct {
	buf  []T
	head int
	n    int
}

// Len returns how many elements wait.
func (r *Ring[T]) Len() int { return r.n }

// Push puts e at the end.
func (r *Ring[T]) Push(e T) {
	r.grow()
	r.buf[(r.head+r.n)%len(r.buf)] = e
	r.n++
}

// Pop removes the first element, false when there is none.
func (r *Ring[T]) Pop() (T, bool) {
	var zero T
	if r.n == 0 {
		return zero, false
	}
	e := r.buf[r.head]
	r.buf[r.head] = zero
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return e, true
}

// Remove takes e out wherever it stands, and keeps the order of the others.
func (r *Ring[T]) Remove(e T) bool {
	found := false
	for range r.n {
		x, _ := r.Pop()
		if x == e && !found {
			found = true
			continue
		}
		r.Push(x)
	}
	return found
}

func (r *Ring[T]) grow() {
	if r.n < len(r.buf) {
		return
	}
	buf := make([]T, max(8, 2*len(r.buf)))
	for i := range r.n {
		buf[i] = r.buf[(r.head+i)%len(r.buf)]
	}
	r.buf, r.head = buf, 0
}
