package handler

import (
	"maps"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// account is what is finished of a claimed partition. It belongs to the claim's loop.
type account struct {
	stamp offset.Stamp
	limit int             // of a commit's text
	safe  int64           // how many offsets may lie open whatever becomes of them
	begun bool            // the partition has been taken over, and what finishes counts
	bare  bool            // nobody reads the stamp: a text is written for a map alone
	track *offset.Tracker // nil by partition: there what is finished has no holes, unless an owner before us had another order
	next  int64           // where track is nil: all below it is finished; -1 as long as nothing is known
	dirty bool            // something has finished since the last commit
	// running says that tasks go on without a claim, until the last one has ended: whoever takes the partition over gives us a moment to
	// cancel them.
	running bool
	inHand  map[int64]*sarama.ConsumerMessage // adopted tasks whose messages may be delivered again
	seen    int64                             // what lies below it was delivered again
	anew    bool                              // nothing that was not delivered to the claim before has come yet
	latest  int64                             // offset that was delivered last to this claim
	reset   bool                              // adopted by a claim that begins where the log does, or ends: its first message may be beyond Next
	spare   offset.Ranges                     // memory for the next map
}

// open begins at an offset, with what was finished beyond it earlier.
func (a *account) open(start int64, before offset.Ranges, holes bool) {
	a.next, a.safe = start, min(offset.FittingSpan(a.limit), maxPending)
	if holes || len(before) > 0 {
		a.track = offset.New(start, before)
	}
}

// deliver says whether a message has to be handled: it was not finished earlier. Where a task of the claim before has its offset it
// returns that one's message, and the caller looks whether it is the same.
func (a *account) deliver(o int64) (fresh bool, mine *sarama.ConsumerMessage) {
	a.latest = o
	before := a.committable()
	fresh, mine = a.take(o)
	if !fresh && a.committable() > before { // what held the commit up is no longer in the log
		a.dirty = true
	}
	return fresh, mine
}

func (a *account) take(o int64) (fresh bool, mine *sarama.ConsumerMessage) {
	switch {
	case a.track == nil:
		fresh = o >= a.next
	case o <= a.track.Last() && !a.track.Rewind(o):
		a.passOver(o)
		fresh = !a.track.Finished(o)
	default:
		a.passOverGone(o)
		fresh = a.track.Deliver(o)
	}
	if len(a.inHand) == 0 {
		return fresh, nil
	}
	mine = a.inHand[o]
	delete(a.inHand, o)
	return fresh, mine
}

// awaits says that the message of an adopted task is to be delivered again, unless it is no longer in the log.
func (a *account) awaits(o int64) bool {
	_, held := a.inHand[o]
	return held && a.latest < o
}

// passOver takes what was delivered to the claim before, is unfinished, and does not come again as done: it is no longer in the log.
func (a *account) passOver(o int64) {
	for {
		missing, ok := a.track.NextUnfinished(a.seen)
		if !ok || missing >= o {
			break
		}
		if _, held := a.inHand[missing]; !held {
			a.dirty = a.track.Finish(missing) || a.dirty
		}
		a.seen = missing + 1
	}
	a.seen = o + 1
}

// passOverGone is passOver for the first message that was not delivered to the claim before: all of that one's have come by then.
func (a *account) passOverGone(o int64) {
	if a.anew && a.track != nil && o > a.track.Last() {
		a.anew = false
		a.passOver(o)
	}
}

// lacks says that something below the first message there is has neither finished nor is in hand: it was gone before it was read. Beyond
// what was delivered nobody knows what there was.
func (a *account) lacks(first int64) bool {
	if a.track == nil {
		o := a.next
		for a.inHand[o] != nil {
			o++
		}
		return o < first
	}
	for from := int64(0); ; {
		o, ok := a.track.NextUnfinished(from)
		switch {
		case !ok:
			return max(a.track.Last()+1, a.track.Next()) < first
		case o >= first:
			return false
		case a.inHand[o] == nil:
			return true
		}
		from = o + 1
	}
}

func (a *account) finish(p progress) {
	if p.n == 0 {
		return
	}
	a.dirty = true
	if a.track == nil {
		a.next = p.next
		maps.DeleteFunc(a.inHand, func(o int64, _ *sarama.ConsumerMessage) bool { return o < p.next })
		return
	}
	for _, o := range p.offsets {
		a.track.Finish(o)
		delete(a.inHand, o)
	}
}

// committable is the offset below which all is finished, -1 as long as nothing is known.
func (a *account) committable() int64 {
	if a.track == nil {
		return a.next
	}
	return a.track.Next()
}

// position is what to commit: offset and map belong together.
func (a *account) position() member.Position {
	s := offset.State{Stamp: a.stamp, Next: a.committable()}
	if a.track != nil {
		a.spare = a.track.RangesInto(a.spare)
		s.Finished = a.spare
	}
	if a.running {
		s.More = []offset.Section{{Tag: runningTag}}
	}
	if a.bare && len(s.Finished) == 0 {
		return member.Position{Offset: s.Next}
	}
	return member.Position{Offset: s.Next, Metadata: s.Encode(a.limit)}
}

// crowdedBy is crowded, once what is no longer in the log counts for nothing.
func (a *account) crowdedBy(o int64) bool {
	a.passOverGone(o)
	return a.crowded(o)
}

// crowded says that a message must not be delivered yet: the map of what may finish beyond an unfinished one would become too long for a
// commit, or the messages to look through after a restart too many.
func (a *account) crowded(o int64) bool {
	if a.track == nil || o <= a.track.Last() || o-a.track.Next() < a.safe && !a.track.Expecting() {
		return false
	}
	return a.track.Unfinished() > 0 && (a.track.BoundAfter(o) > a.limit || a.track.Pending() >= maxPending)
}

// runningTag is the tag of a section without content: tasks went on without a claim when this was committed.
const runningTag = 2

// maxPending is how many messages an account follows beyond an unfinished one. A new owner reads as many again to pass them over.
const maxPending = 100_000
