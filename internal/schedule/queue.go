package schedule

// Queue holds the messages of one strictly serial sequence, in the slabs in which they came. Taking a run copies nothing: it is
// a part of a slab. The zero value is an empty queue.
type Queue[T any] struct {
	slabs [][]T // those before head are taken and nil
	head  int
	n     int
}

// Len returns how many elements wait.
func (q *Queue[T]) Len() int { return q.n }

// Push appends a slab, which belongs to the queue from now on.
func (q *Queue[T]) Push(slab []T) {
	if len(slab) == 0 {
		return
	}
	if len(q.slabs) == cap(q.slabs) && q.head > len(q.slabs)/2 { // else the taken ones would be carried along for ever
		q.compact()
	}
	q.slabs = append(q.slabs, slab)
	q.n += len(slab)
}

// PutBack returns a run that was taken to the front.
func (q *Queue[T]) PutBack(run []T) {
	if len(run) == 0 || q.n == 0 {
		q.Push(run)
		return
	}
	if q.head == 0 {
		q.slabs = append([][]T{nil}, q.slabs...)
		q.head = 1
	}
	q.head--
	q.slabs[q.head] = run
	q.n += len(run)
}

// Take removes the next run, of at most limit elements and never across slabs. It returns nil when the queue is empty.
func (q *Queue[T]) Take(limit int) []T {
	if q.n == 0 || limit < 1 {
		return nil
	}
	first := q.slabs[q.head]
	k := min(limit, len(first))
	q.n -= k
	if k < len(first) {
		q.slabs[q.head] = first[k:]
		return first[:k:k]
	}
	q.slabs[q.head] = nil
	q.head++
	if q.n == 0 {
		q.slabs, q.head = q.slabs[:0], 0
	}
	return first
}

// shared is how many slabs at the front may be parts of the one that a run was taken from: what a failed element left, what was put
// back of the run, and what was never taken.
const shared = 3

// Clear drops everything and returns how many elements that were. What shares its memory with a run that goes on is zeroed, so that
// the run does not keep alive what the elements refer to.
func (q *Queue[T]) Clear() int {
	n := q.n
	for _, slab := range q.slabs[q.head:min(q.head+shared, len(q.slabs))] {
		clear(slab)
	}
	*q = Queue[T]{}
	return n
}

func (q *Queue[T]) compact() {
	n := copy(q.slabs, q.slabs[q.head:])
	clear(q.slabs[n:])
	q.slabs, q.head = q.slabs[:n], 0
}
