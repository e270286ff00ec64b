package schedule

// Queue holds the messages of one strictly serial sequence, in the slabs in which they came. Taking a run copies nothing: it is
// a part of a slab. The zero value is an empty queue.
type Queue[T any] struct {
	slabs [][]T
	n     int
}

// Len returns how many elements wait.
func (q *Queue[T]) Len() int { return q.n }

// Push appends a slab, which belongs to the queue from now on.
func (q *Queue[T]) Push(slab []T) {
	if len(slab) == 0 {
		return
	}
	q.slabs = append(q.slabs, slab)
	q.n += len(slab)
}

// PutBack returns a run that was taken to the front.
func (q *Queue[T]) PutBack(run []T) {
	if len(run) == 0 {
		return
	}
	q.slabs = append([][]T{run}, q.slabs...) // rare: a run was cut, or a task is tried again
	q.n += len(run)
}

// Take removes the next run, of at most limit elements and never across slabs. It returns nil when the queue is empty.
func (q *Queue[T]) Take(limit int) []T {
	if q.n == 0 || limit < 1 {
		return nil
	}
	first := q.slabs[0]
	k := min(limit, len(first))
	q.n -= k
	if k == len(first) {
		q.slabs[0] = nil
		q.slabs = q.slabs[1:]
		return first
	}
	q.slabs[0] = first[k:]
	return first[:k:k]
}

// Clear drops everything and returns how many elements that were.
func (q *Queue[T]) Clear() int {
	n := q.n
	q.slabs, q.n = nil, 0
	return n
}
