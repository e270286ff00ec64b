package schedule

func (l *lane[T]) append(it *Item[T]) {
	if l.tail == nil {
		l.head = it
	} else {
		l.tail.next = it
	}
	l.tail = it
}

func (l *lane[T]) prepend(it *Item[T]) {
	it.next = l.head
	if l.head = it; l.tail == nil {
		l.tail = it
	}
}

func (l *lane[T]) shift() *Item[T] {
	it := l.head
	if l.head = it.next; l.head == nil {
		l.tail = nil
	}
	it.next = nil
	return it
}
