package offset

// Tracker follows the messages of one partition that were delivered: which of them are finished, in any order, and what may be
// committed. It has one owner and no lock. [New] makes one.
//
// It takes 8 bytes and a bit for each delivered message from Next on, and gives room back when it was little used for a while. It
// allocates when it grows or shrinks, never otherwise.
type Tracker struct {
	window     window // delivered from Next on
	before     Ranges // finished earlier: those that end after last
	floor      int64  // Next while nothing is unfinished
	last       int64
	unfinished int
}

// New starts at the committed offset. before is what was finished beyond it earlier, as a decoded map or another tracker's Ranges
// have it, in any order; nil is nothing, and what lies below start is ignored. It is copied.
//
// A negative start (sarama.OffsetOldest, sarama.OffsetNewest) is what Next returns until the first message is delivered.
func New(start int64, before Ranges) *Tracker {
	t := &Tracker{before: before.beyond(start), last: start - 1}
	t.floor = t.past(start)
	return t
}

// Deliver takes the next offset. Offsets rise; gaps (compaction, markers of transactions) cost nothing, whatever their size.
//
// It returns false for a message that must not be run: it was finished earlier, or has been delivered before. What was delivered
// stays known over a redelivery from Next on: a partition that comes back to the same owner keeps its tracker.
func (t *Tracker) Deliver(offset int64) (fresh bool) {
	if offset <= t.last {
		return false
	}
	t.last = offset
	if offset < t.floor {
		return false
	}
	finished := t.wasFinished(offset)
	t.window.push(offset, finished)
	if finished {
		t.advance()
		return false
	}
	t.unfinished++
	return true
}

// Rewind takes note of an offset that is next to be delivered although it lies below the last one. It returns false for what was delivered
// or lies below Next. An offset that is neither was not in the log: another log has taken the place of the one that was read, and what is
// known from this offset on is forgotten.
func (t *Tracker) Rewind(offset int64) bool {
	if _, known := t.window.find(offset); known || offset < t.Next() || offset > t.last {
		return false
	}
	t.unfinished -= t.window.cut(t.window.from(offset))
	t.before, t.last = nil, offset-1
	return true
}

// wasFinished drops the ranges that end before the offset, for good: what was not delivered of them is no longer in the log.
func (t *Tracker) wasFinished(offset int64) bool {
	for len(t.before) > 0 && t.before[0].To <= offset {
		t.drop()
	}
	return len(t.before) > 0 && t.before[0].From <= offset
}

// Finish takes the end of a message. It returns false when the message was not delivered or is finished already. It takes constant
// time without gaps in the log, and O(log Pending) with.
func (t *Tracker) Finish(offset int64) bool {
	n, ok := t.window.find(offset)
	if !ok || t.window.isFinished(n) {
		return false
	}
	t.window.finish(n)
	t.unfinished--
	t.advance()
	return true
}

// Finished says whether a message that was delivered, or that lies below Next, is finished.
func (t *Tracker) Finished(offset int64) bool {
	if offset < t.Next() {
		return true
	}
	n, ok := t.window.find(offset)
	return ok && t.window.isFinished(n)
}

// NextUnfinished returns the first delivered message at or beyond an offset that is not finished.
func (t *Tracker) NextUnfinished(from int64) (offset int64, ok bool) {
	n := t.window.next(t.window.from(from), false)
	if n == t.window.end {
		return 0, false
	}
	return t.window.offset(n), true
}

// advance moves the frontier past what is finished.
func (t *Tracker) advance() {
	t.window.trim()
	if t.window.len() == 0 {
		t.floor = t.past(t.last + 1)
	}
}

// past returns the offset, or the end of the range finished earlier that has it.
func (t *Tracker) past(offset int64) int64 {
	if len(t.before) > 0 && t.before[0].From <= offset {
		offset = t.before[0].To
		t.drop()
	}
	return offset
}

// drop removes the first range, and the memory of all with the last one.
func (t *Tracker) drop() {
	t.before = t.before[1:]
	if len(t.before) == 0 {
		t.before = nil
	}
}

// Next returns what may be committed: the offset of the first unfinished message, or, if there is none, that after the last one
// delivered and after all that was finished earlier and follows without a gap. It never falls.
func (t *Tracker) Next() int64 {
	if t.unfinished == 0 {
		return t.floor
	}
	return t.window.offset(t.window.base)
}

// Last returns the offset delivered last, one less than the start when there is none.
func (t *Tracker) Last() int64 { return t.last }

// Unfinished returns how many messages are delivered and not finished.
func (t *Tracker) Unfinished() int { return t.unfinished }

// Expecting says that something that was finished earlier is still to be delivered again.
func (t *Tracker) Expecting() bool { return len(t.before) > 0 }

// Pending returns how many messages were delivered from Next on, finished or not.
func (t *Tracker) Pending() int { return int(t.window.len()) }

// Ranges returns what is finished beyond Next, in order: of the messages delivered, and of those finished earlier that are still to
// come. Offsets that the log does not have belong to the run that they follow. It takes time for each range and for each 64 of Pending.
func (t *Tracker) Ranges() Ranges { return t.RangesInto(nil) }

// RangesInto is Ranges in the memory of r, which is overwritten: an owner that commits often allocates nothing.
func (t *Tracker) RangesInto(r Ranges) Ranges {
	r = r[:0]
	w := &t.window
	for n := w.next(w.base, true); n < w.end; {
		end := w.next(n, false)
		r = append(r, Range{w.offset(n), t.offsetAt(end)})
		n = w.next(end, true)
	}
	for _, x := range t.before { // the first one may have been delivered in part, as the end of the last range
		r = r.join(x)
	}
	return r
}

// offsetAt returns the offset of a number, and that after the last one for the number after the last one.
func (t *Tracker) offsetAt(n int64) int64 {
	if n == t.window.end {
		return t.last + 1
	}
	return t.window.offset(n)
}
