package kit

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// run is one handler call, from its start to its end.
type run struct {
	member    string
	partition int32
	offset    int64
	key       string
	claim     int // number of the claim in its member
	start     time.Time
	end       time.Time // when the call returned; far away as long as it has not
	live      time.Time // until when it counts: it has returned, was cancelled, or its member is gone or expelled
	good      bool      // it has succeeded
}

// far is later than everything.
var far = time.Unix(1<<40, 0)

// call is what tells handler calls apart.
type call struct {
	member string
	number int64
}

// seat is what a member claims.
type seat struct {
	member    string
	partition int32
}

// reader makes runs of a history.
type reader struct {
	open    map[call]*run
	claims  map[seat]int
	fenced  map[string]bool // expelled, and it has not heard of it
	started []*run
}

// runs returns the calls, by their start.
func (h *History) runs() []*run {
	r := reader{open: map[call]*run{}, claims: map[seat]int{}, fenced: map[string]bool{}}
	for _, e := range h.byTime() {
		r.read(e)
	}
	return r.started
}

// byTime returns all events by the time at which they happened; another process tells of them a moment later.
func (h *History) byTime() []Event {
	h.mu.Lock()
	all := slices.Clone(h.events)
	h.mu.Unlock()
	slices.SortStableFunc(all, func(a, b Event) int { return a.At.Compare(b.At) })
	return all
}

func (r *reader) read(e Event) {
	switch e.Kind {
	case Claimed:
		r.claims[seat{e.Member, e.Partition}]++
	case Started:
		r.begin(e)
	case Cancelled, Returned:
		r.finish(e)
	case Expelled:
		r.fenced[e.Member] = true
		r.endAll(e)
	case Ended:
		r.fenced[e.Member] = false
	case Gone:
		r.endAll(e)
	default: // of no handler call
	}
}

func (r *reader) begin(e Event) {
	c := &run{
		member: e.Member, partition: e.Partition, offset: e.Offset, key: e.Key, claim: r.claims[seat{e.Member, e.Partition}],
		start: e.At, end: far, live: far,
	}
	if r.fenced[e.Member] {
		c.live = e.At
	}
	r.open[call{e.Member, e.Call}] = c
	r.started = append(r.started, c)
}

func (r *reader) finish(e Event) {
	c := r.open[call{e.Member, e.Call}]
	if c == nil {
		return
	}
	c.live = earlier(c.live, e.At)
	if e.Kind == Returned {
		c.end, c.good = e.At, e.Err == nil
		delete(r.open, call{e.Member, e.Call})
	}
}

// endAll ends what counts of a member.
func (r *reader) endAll(e Event) {
	for id, c := range r.open {
		if id.member == e.Member {
			c.live = earlier(c.live, e.At)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// lane is what keeps its order.
type lane struct {
	partition int32
	key       string
	offset    int64 // of what has no order to keep
}

func laneOf(r *run, o handler.Order) lane {
	switch {
	case o == handler.ByPartition:
		return lane{partition: r.partition, offset: -1}
	case o == handler.ByKey && r.key != "":
		return lane{partition: r.partition, key: r.key, offset: -1}
	default:
		return lane{partition: r.partition, offset: r.offset}
	}
}

// lanesOf sorts runs, each lane's by their start.
func lanesOf(runs []*run, o handler.Order) map[lane][]*run {
	lanes := map[lane][]*run{}
	for _, r := range runs {
		l := laneOf(r, o)
		lanes[l] = append(lanes[l], r)
	}
	return lanes
}

// byOffset is the order in which runs should come.
func byOffset(a, b *run) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), a.start.Compare(b.start))
}
