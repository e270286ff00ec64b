package offset_test

import (
	"iter"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// longest is the stamp that takes the most room.
var longest = offset.Stamp{Owner: math.MaxUint64, Count: math.MaxInt64}

// model is a partition, its log and who runs it, done naively: a list of offsets and a set of finished ones. It drives a Tracker and
// compares.
type model struct {
	t       *testing.T
	tracker *offset.Tracker
	log     []int64        // offsets that exist, in order
	pos     int            // in log: delivered next
	done    map[int64]bool // finished by anybody
	running map[int64]bool // started and not finished
	seen    []int64        // delivered to this tracker, at its frontier then or beyond
	before  offset.Ranges  // what this tracker began with
	spare   offset.Ranges  // used again for each map
	next    int64
	last    int64
	bound   int // the least since the last delivery
}

func newModel(t *testing.T, start int64) *model {
	return &model{
		t: t, tracker: offset.New(start, nil), log: []int64{start}, done: map[int64]bool{}, running: map[int64]bool{},
		next: start, last: start - 1, bound: math.MaxInt,
	}
}

// produce appends a message to the log after a gap.
func (m *model) produce(gap int64) { m.log = append(m.log, m.log[len(m.log)-1]+1+gap) }

// deliver hands on the next message of the log.
func (m *model) deliver() {
	o := m.log[m.pos]
	m.pos++
	promised := m.tracker.BoundAfter(o)
	fresh := m.tracker.Deliver(o)
	if want := !m.done[o] && !m.running[o]; fresh != want {
		m.t.Fatalf("deliver %d: fresh %v, want %v (finished %v, running %v)", o, fresh, want, m.done[o], m.running[o])
	}
	if fresh {
		m.running[o] = true
	}
	if o > m.last && o >= m.next {
		m.seen = append(m.seen, o)
	}
	m.last = max(m.last, o)
	if m.bound = m.tracker.Bound(); m.bound > promised || fresh && len(m.before) == 0 && m.bound != promised {
		m.t.Fatalf("deliver %d: bound %d, promised %d", o, m.bound, promised)
	}
	m.settle()
}

// finish ends one of the running messages.
func (m *model) finish(pick int) {
	running := m.unfinished()
	if len(running) == 0 {
		return
	}
	o := running[pick%len(running)]
	if !m.tracker.Finish(o) {
		m.t.Fatalf("finish %d: unknown", o)
	}
	if m.tracker.Finish(o) {
		m.t.Fatalf("finish %d: twice", o)
	}
	m.done[o] = true
	delete(m.running, o)
	m.settle()
}

func (m *model) unfinished() []int64 { return slices.Sorted(maps.Keys(m.running)) }

func lowest(offsets iter.Seq[int64]) int64 {
	first := int64(math.MaxInt64)
	for o := range offsets {
		first = min(first, o)
	}
	return first
}

// settle moves the frontier.
func (m *model) settle() {
	if len(m.running) > 0 {
		m.next = lowest(maps.Keys(m.running))
		return
	}
	m.next = max(m.next, m.last+1)
	for _, x := range m.before {
		if x.From <= m.next && m.next < x.To {
			m.next = x.To
		}
	}
}

// ranges builds what the map has to have.
func (m *model) ranges() (r offset.Ranges) {
	at := -1 // index of the run that grows
	for i, o := range m.seen {
		end := m.last + 1
		if i+1 < len(m.seen) {
			end = m.seen[i+1]
		}
		switch {
		case o < m.next, m.running[o]:
			at = -1
		case at < 0:
			r, at = append(r, offset.Range{From: o, To: end}), len(r)
		default:
			r[at].To = end
		}
	}
	for _, x := range m.before {
		x.From = max(x.From, m.last+1, m.next)
		switch {
		case x.From >= x.To:
			continue
		case at >= 0 && r[at].To == x.From:
			r[at].To = x.To
		default:
			r = append(r, x)
		}
		at = -1
	}
	return r
}

// redeliver lets the log be read again from the frontier: the partition has come back.
func (m *model) redeliver() { m.pos, _ = slices.BinarySearch(m.log, m.tracker.Next()) }

// restart gives the partition to a member that knows no more than the text of the commit: what runs is lost.
func (m *model) restart() {
	want := m.ranges()
	text := offset.State{Stamp: longest, Next: m.tracker.Next(), Finished: m.tracker.Ranges()}.Encode(1 << 20)
	s, err := offset.Decode(text, m.next)
	if err != nil || s.Next != m.next || !slices.Equal(s.Finished, want) {
		m.t.Fatalf("decoded %v, %v, want %d and %v", s, err, m.next, want)
	}
	m.tracker, m.before = offset.New(s.Next, s.Finished), want
	clear(m.running)
	m.seen, m.last, m.bound = nil, m.next-1, math.MaxInt
	m.redeliver()
}

// compact removes a message that is still to be read from the log, if it is not the last one. It may be running.
func (m *model) compact(pick int) {
	if left := len(m.log) - 1 - m.pos; left > 0 {
		i := m.pos + pick%left
		m.log = slices.Delete(m.log, i, i+1)
	}
}

// fill replaces the log by one that has a message in the first gap beyond the frontier.
func (m *model) fill() {
	o := m.next + 1
	for slices.Contains(m.log, o) || slices.Contains(m.seen, o) {
		o++
	}
	if o >= m.last {
		return
	}
	if !m.tracker.Rewind(o) || m.tracker.Rewind(o) {
		m.t.Fatalf("%d between %d and %d is known", o, m.next, m.last)
	}
	later := func(x int64, _ bool) bool { return x >= o }
	maps.DeleteFunc(m.done, later)
	maps.DeleteFunc(m.running, later)
	m.seen = slices.DeleteFunc(m.seen, func(x int64) bool { return x > o })
	m.pos, _ = slices.BinarySearch(m.log, o)
	m.log = slices.Insert(m.log, m.pos, o)
	m.before, m.last, m.bound = nil, o-1, math.MaxInt
	m.deliver()
}

func (m *model) check() {
	m.t.Helper()
	tr := m.tracker
	if tr.Next() != m.next || tr.Last() != m.last || tr.Unfinished() != len(m.running) {
		m.t.Fatalf("next %d, last %d, %d unfinished, want %d, %d, %d", tr.Next(), tr.Last(), tr.Unfinished(), m.next, m.last, len(m.running))
	}
	pending := 0
	for _, o := range m.seen {
		if o >= m.next {
			pending++
		}
	}
	if tr.Pending() != pending {
		m.t.Fatalf("%d pending, want %d", tr.Pending(), pending)
	}
	m.checkMap()
}

// checkMap compares the ranges and what they take with what was promised since the last delivery.
func (m *model) checkMap() {
	m.t.Helper()
	m.spare = m.tracker.RangesInto(m.spare)
	ranges := m.spare
	if want := m.ranges(); !slices.Equal(ranges, want) {
		m.t.Fatalf("ranges %v, want %v beyond %d", ranges, want, m.next)
	}
	if b := m.tracker.Bound(); b > m.bound {
		m.t.Fatalf("bound rose from %d to %d without a delivery", m.bound, b)
	}
	m.bound = m.tracker.Bound()
	if n := len(offset.State{Stamp: longest, Next: m.next, Finished: ranges}.Encode(1 << 20)); n > m.bound {
		m.t.Fatalf("text of %d, bound %d, of %v beyond %d", n, m.bound, ranges, m.next)
	}
}
