package check

import (
	"cmp"
	"math"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// far is later than everything.
const far = time.Duration(math.MaxInt64)

// place is a partition of a group.
type place struct {
	group     string
	partition int32
}

type message struct {
	place
	offset int64
}

// run is one handler call.
type run struct {
	message
	process string
	key     string
	claim   int           // number of the claim in its process and place
	begin   time.Duration //
	cancel  time.Duration // when its context ended, far as long as it has not
	end     time.Duration // when the handler returned or the process was gone, far as long as neither
	wall    int64         // of the end
	good    bool          // it has succeeded
	gone    bool          // its process ended under it
}

// counts is until when the run counts: a cancelled one does not.
func (r *run) counts() time.Duration { return min(r.cancel, r.end) }

// claim is the time of a process with a place.
type claim struct {
	process    string
	begin, end time.Duration
	wall       int64 // of the begin
	let        bool  // it was let go, and has not ended with its process, or under the next one
	stale      bool  // a newer generation had been heard of in the group: it may be that of a member that was removed
}

// seat is a place as one process has it.
type seat struct {
	process string
	place
}

// story is a book in the order of time, and indexed.
type story struct {
	header  ledger.Header
	groups  map[string]ledger.Group
	events  []ledger.Event
	runs    []*run // by their begin
	of      map[message][]*run
	claims  map[seat][]claim
	stored  map[place][]ledger.Event
	done    map[message]*run // the first that has succeeded
	faults  []fault
	frozen  map[string][]fault       // by process
	covered map[message]int64        // wall time of the first commit that has it
	refused map[seat][]time.Duration // when a commit was not stored, or given up
	stops   map[string]time.Duration // when a process was asked to stop in order
	gone    map[string]time.Duration // when a process ended
	unheard map[place][]ledger.Event // commits that were given up unanswered
	missed  map[seat][]time.Duration // when an assignment was heard after one that was missed, by process and group
	settled time.Duration            // far if the run was not brought to its end
}

func read(b *ledger.Book) *story {
	s := &story{
		header: b.Header, events: b.Events(), settled: far,
		groups: map[string]ledger.Group{}, of: map[message][]*run{}, claims: map[seat][]claim{}, stored: map[place][]ledger.Event{},
		done: map[message]*run{}, frozen: map[string][]fault{}, covered: map[message]int64{}, refused: map[seat][]time.Duration{},
		stops: map[string]time.Duration{}, gone: map[string]time.Duration{}, unheard: map[place][]ledger.Event{}, missed: map[seat][]time.Duration{},
	}
	for _, g := range b.Header.Groups {
		s.groups[g.Name] = g
	}
	x := indexer{story: s, open: map[call]*run{}, fault: map[int]int{}, heard: map[seat]int32{}, newest: map[string]int32{}}
	for _, e := range s.events {
		x.take(e)
	}
	s.cover()
	return s
}

// call is what tells handler calls apart.
type call struct {
	process string
	number  int64
}

// indexer reads the events one after the other.
type indexer struct {
	*story
	open   map[call]*run
	fault  map[int]int      // index by number
	heard  map[seat]int32   // the latest generation, by process and group
	newest map[string]int32 // of each group
}

func placeOf(e ledger.Event) place { return place{e.Group, e.Partition} }

func (x *indexer) take(e ledger.Event) {
	switch e.Kind {
	case ledger.Started:
		x.start(e)
	case ledger.Canceled, ledger.Ended:
		x.finish(e)
	case ledger.Claimed, ledger.Released:
		x.claim(e)
	case ledger.Stored:
		x.stored[placeOf(e)] = append(x.stored[placeOf(e)], e)
	case ledger.Answered:
		if at := (seat{e.Member, placeOf(e)}); e.Err != "" {
			x.refused[at] = append(x.refused[at], e.At)
		}
		if e.Text == ledger.Unanswered {
			x.unheard[placeOf(e)] = append(x.unheard[placeOf(e)], e)
		}
	case ledger.Assigned:
		x.assign(e)
	case ledger.Fault, ledger.Calm:
		x.disturb(e)
	case ledger.Gone:
		x.bury(e)
	case ledger.Stopping:
		x.stops[e.Member] = e.At
	case ledger.Settled:
		x.settled = e.At
	default: // of interest to some checks only
	}
}

func (x *indexer) start(e ledger.Event) {
	at := seat{e.Member, placeOf(e)}
	r := &run{
		message: message{placeOf(e), e.Offset}, process: e.Member, key: e.Key, claim: len(x.claims[at]),
		begin: e.At, cancel: far, end: far,
	}
	x.open[call{e.Member, e.Call}] = r
	x.runs, x.of[r.message] = append(x.runs, r), append(x.of[r.message], r)
}

func (x *indexer) finish(e ledger.Event) {
	id := call{e.Member, e.Call}
	r := x.open[id]
	if r == nil {
		return
	}
	if e.Kind == ledger.Canceled {
		r.cancel = e.At
		return
	}
	r.end, r.wall, r.good = e.At, e.Wall, e.Err == ""
	if e.Text == ledger.Late {
		r.cancel = min(r.cancel, e.At)
	}
	delete(x.open, id)
	if r.good && x.done[r.message] == nil {
		x.done[r.message] = r
	}
}

func (x *indexer) claim(e ledger.Event) {
	at := seat{e.Member, placeOf(e)}
	if e.Kind == ledger.Claimed {
		x.endClaims(at, e.At)
		x.claims[at] = append(x.claims[at], claim{
			process: e.Member, begin: e.At, end: far, wall: e.Wall, stale: e.Generation != 0 && e.Generation < x.newest[e.Group],
		})
		return
	}
	if n := len(x.claims[at]); n > 0 {
		c := &x.claims[at][n-1]
		c.end, c.let = e.At, true
	}
}

// endClaims ends what was not let go.
func (x *indexer) endClaims(of seat, at time.Duration) {
	for i := range x.claims[of] {
		c := &x.claims[of][i]
		c.end = min(c.end, at)
	}
}

func (x *indexer) assign(e ledger.Event) {
	x.newest[e.Group] = max(x.newest[e.Group], e.Generation)
	at := seat{process: e.Member, place: place{group: e.Group}}
	if last, ok := x.heard[at]; ok && e.Generation > last+1 {
		x.missed[at] = append(x.missed[at], e.At)
	}
	x.heard[at] = e.Generation
}

func (x *indexer) disturb(e ledger.Event) {
	if e.Kind == ledger.Fault {
		x.fault[e.Fault] = len(x.faults)
		x.faults = append(x.faults, fault{e.Fault, e.Text, e.Class, e.Member, e.At, far})
		return
	}
	if i, ok := x.fault[e.Fault]; ok {
		f := &x.faults[i]
		f.end = e.At
		if f.name == "freeze" || f.name == "blink" {
			x.frozen[f.process] = append(x.frozen[f.process], *f)
		}
	}
}

func (x *indexer) bury(e ledger.Event) {
	x.gone[e.Member] = e.At
	for id, r := range x.open {
		if id.process == e.Member {
			r.end, r.wall, r.gone = e.At, e.Wall, true
			delete(x.open, id)
		}
	}
	for at := range x.claims {
		if at.process == e.Member {
			x.endClaims(at, e.At)
		}
	}
}

// lane is what keeps its order.
type lane struct {
	place
	key    string
	offset int64 // of what has no order to keep
}

func (s *story) laneOf(r *run) lane {
	switch order := s.groups[r.group].Order; {
	case order == "partition":
		return lane{place: r.place, offset: -1}
	case order == "key" && r.key != "":
		return lane{place: r.place, key: r.key, offset: -1}
	default:
		return lane{place: r.place, offset: r.offset}
	}
}

// lanes sorts the runs, each lane's by their begin.
func (s *story) lanes() map[lane][]*run {
	lanes := map[lane][]*run{}
	for _, r := range s.runs {
		l := s.laneOf(r)
		lanes[l] = append(lanes[l], r)
	}
	return lanes
}

// byOffset is the order in which the runs of a lane should come.
func byOffset(a, b *run) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.begin, b.begin))
}

// end is the time of the last event.
func (s *story) end() time.Duration {
	if len(s.events) == 0 {
		return 0
	}
	return s.events[len(s.events)-1].At
}
