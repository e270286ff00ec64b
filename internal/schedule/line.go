package schedule

// line is a sequence of elements that may start: those without a key, and one of each lane that may go on.
type line[T any] struct {
	first, last *Item[T]
	n           int
}

func (l *line[T]) push(it *Item[T]) {
	if l.first == nil {
		l.pushFront(it)
		return
	}
	it.line = nil
	l.last.line, l.last = it, it
	l.n++
}

func (l *line[T]) pushFront(it *Item[T]) {
	if it.line = l.first; l.first == nil {
		l.last = it
	}
	l.first = it
	l.n++
}

func (l *line[T]) pop() *Item[T] {
	it := l.first
	if l.first = it.line; l.first == nil {
		l.last = nil
	}
	it.line = nil
	l.n--
	return it
}
