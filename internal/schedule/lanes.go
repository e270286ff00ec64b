package schedule

// Item is an element with its place among the others. Elements come in slabs of items, so that a batch is one allocation.
type Item[T any] struct {
	Value T

	lane *lane[T] // nil: it has no key
	next *Item[T] // in its lane
	line *Item[T] // behind it in its line
}

// Hash is that of the lane of an element that waits or is out.
func (it *Item[T]) Hash() uint64 {
	if it.lane == nil {
		return 0
	}
	return it.lane.hash
}

// lane is a sequence of elements that share a key.
type lane[T any] struct {
	hash       uint64
	head, tail *Item[T]
	out        int32 // taken and not ended
	ready      bool  // in a line
	spare      *lane[T]
}

// Lanes holds the messages of a claim by key: at most width of a key are out at once, and with a width of one they start and end in
// the order in which they came. Keys are served in the order in which they became ready, so that one with many messages holds up no
// other. An element without a key waits for nothing. What is tried again has a line of its own, and the two take turns: in one line it
// would wait for the whole backlog, or the backlog for it. Make one with [NewLanes].
type Lanes[T any] struct {
	width int32
	byKey map[uint64]*lane[T]
	n     int

	line    line[T]
	retries line[T] // what is tried again
	turn    bool    // the retries are next
	free    *lane[T]
}

// NewLanes returns lanes of which at most width elements each are out at once.
func NewLanes[T any](width int) *Lanes[T] {
	return &Lanes[T]{width: int32(max(1, min(width, 1<<30))), byKey: map[uint64]*lane[T]{}}
}

// Len returns how many elements wait.
func (l *Lanes[T]) Len() int { return l.n }

// Ready returns how many lanes have an element that may start; one without a key is a lane of its own.
func (l *Lanes[T]) Ready() int { return l.line.n + l.retries.n }

// Push appends an element to the lane of a hash. 0 stands for no key.
func (l *Lanes[T]) Push(it *Item[T], hash uint64) {
	l.n++
	it.next = nil
	if hash == 0 {
		it.lane = nil
		l.line.push(it)
		return
	}
	it.lane = l.laneOf(hash)
	it.lane.append(it)
	l.enter(it.lane)
}

// Hold counts an element that has started elsewhere as one of its lane. It ends by [Lanes.End].
func (l *Lanes[T]) Hold(it *Item[T], hash uint64) {
	if it.lane, it.next = nil, nil; hash != 0 {
		it.lane = l.laneOf(hash)
		it.lane.out++
	}
}

// Take moves elements that may start into run, from at most lanes lanes, and returns how many. What it takes of one lane stands
// together in order, and has to be run in that order by one runner.
func (l *Lanes[T]) Take(run []*Item[T], lanes int) (n int) {
	for ; n < len(run) && l.Ready() > 0 && lanes > 0; lanes-- {
		if it := l.pop(); it.lane != nil {
			n += l.takeOf(it.lane, run[n:])
		} else {
			run[n] = it
			n++
		}
	}
	l.n -= n
	return n
}

func (l *Lanes[T]) takeOf(lane *lane[T], run []*Item[T]) (n int) {
	lane.ready = false
	most := len(run)
	if l.width > 1 { // elements of a wide lane run beside each other
		most = 1
	}
	for ; n < most && lane.head != nil; n++ {
		run[n] = lane.shift()
	}
	lane.out += int32(n)
	l.enter(lane)
	return n
}

// End says that an element that was out has ended for good.
func (l *Lanes[T]) End(it *Item[T]) {
	lane := it.lane
	if it.lane = nil; lane == nil {
		return
	}
	lane.out--
	if lane.out == 0 && lane.head == nil {
		l.drop(lane)
		return
	}
	l.enter(lane)
}

// PutBack returns an element that was out, and has not started, to the place from which it was taken: to the front of its lane, and its
// lane to the front of the line where it is in none. Several are put back last one first.
func (l *Lanes[T]) PutBack(it *Item[T]) {
	l.n++
	if it.lane == nil {
		l.line.pushFront(it)
		return
	}
	it.lane.out--
	it.lane.prepend(it)
	if l.enters(it.lane) {
		l.line.pushFront(it)
	}
}

// Again puts an element in the place of one that was out, at the front of its lane, and its lane to the end of the retries where it is
// in no line yet.
func (l *Lanes[T]) Again(old, fresh *Item[T]) {
	l.n++
	if fresh.lane, old.lane = old.lane, nil; fresh.lane == nil {
		l.retries.push(fresh)
		return
	}
	fresh.lane.out--
	fresh.lane.prepend(fresh)
	if l.enters(fresh.lane) {
		l.retries.push(fresh)
	}
}

// Clear drops what waits. What is out has to be ended all the same.
func (l *Lanes[T]) Clear() {
	for hash, lane := range l.byKey {
		lane.head, lane.tail, lane.ready = nil, nil, false
		if lane.out == 0 {
			delete(l.byKey, hash)
		}
	}
	l.line, l.retries, l.n, l.free = line[T]{}, line[T]{}, 0, nil
}

// enter puts a lane to the end of the line if it is in none and one of its elements may start.
func (l *Lanes[T]) enter(lane *lane[T]) {
	if l.enters(lane) {
		l.line.push(lane.head)
	}
}

// enters says whether a lane has to be put into a line, and takes it as put there.
func (l *Lanes[T]) enters(lane *lane[T]) bool {
	if lane.ready || lane.head == nil || lane.out >= l.width {
		return false
	}
	lane.ready = true
	return true
}

// pop takes from the two lines in turn, as long as both have something.
func (l *Lanes[T]) pop() *Item[T] {
	if l.line.n == 0 || l.turn && l.retries.n > 0 {
		l.turn = false
		return l.retries.pop()
	}
	l.turn = true
	return l.line.pop()
}

func (l *Lanes[T]) laneOf(hash uint64) *lane[T] {
	found := l.byKey[hash]
	if found == nil {
		found = l.fresh(hash)
		l.byKey[hash] = found
	}
	return found
}

// fresh takes a lane that was given back, for keys come and go.
func (l *Lanes[T]) fresh(hash uint64) *lane[T] {
	f := l.free
	if f == nil {
		return &lane[T]{hash: hash}
	}
	l.free = f.spare
	*f = lane[T]{hash: hash}
	return f
}

func (l *Lanes[T]) drop(lane *lane[T]) {
	delete(l.byKey, lane.hash)
	lane.spare, l.free = l.free, lane
}
