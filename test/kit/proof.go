package kit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// Rules are what a history is held against.
type Rules struct {
	Order handler.Order
	Base  int64           // where the group begins on each partition
	Ends  map[int32]int64 // what lies before them is to have succeeded, by partition
	// Absent are the offsets that the log does not have. Default: none.
	Absent func(partition int32, offset int64) bool
}

// lateNews is how late the history may be told of a cancellation: by a goroutine of its own, on a machine where many wait for two cores.
const lateNews = 300 * time.Millisecond

// Faults returns what is wrong with a history: runs of a key (or of a partition, by partition) that overlap or come in the wrong order,
// two runs of a message that count at the same time, commits of what had not succeeded, and messages without a run that succeeded.
//
// Runs of different members overlap when both count: a handler may ignore its cancellation, and then its result does not. Those of one
// member never overlap.
func (h *History) Faults(r Rules) []string {
	p := &proof{Rules: r, runs: h.runs(), events: h.byTime(), done: map[message]time.Time{}}
	for _, c := range p.runs {
		if at := (message{c.partition, c.offset}); c.good && (p.done[at].IsZero() || c.end.Before(p.done[at])) {
			p.done[at] = c.end
		}
	}
	for _, check := range []func(){p.overlaps, p.inversions, p.rewinds, p.commits, p.losses} {
		check()
	}
	return p.faults
}

type message struct {
	partition int32
	offset    int64
}

type proof struct {
	Rules
	runs   []*run
	events []Event
	done   map[message]time.Time // when it first had succeeded
	faults []string
}

func (p *proof) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// overlaps looks at lanes, and at each message by itself.
func (p *proof) overlaps() {
	for _, o := range []handler.Order{p.Order, handler.None} {
		for _, runs := range lanesOf(p.runs, o) {
			var open []*run
			for _, r := range runs {
				open = slices.DeleteFunc(open, func(x *run) bool { return !x.end.After(r.start) })
				for _, x := range open {
					if x.overlaps(r) {
						p.fault("%v starts while %v goes on", r, x)
					}
				}
				open = append(open, r)
			}
		}
	}
}

// overlaps says that next has started too early after r.
func (r *run) overlaps(next *run) bool {
	if r.member == next.member {
		return r.end.After(next.start)
	}
	return next.live.After(next.start) && r.live.Add(-lateNews).After(next.start)
}

func (r *run) String() string {
	return fmt.Sprintf("%d@%d %s by %s at %s", r.partition, r.offset, r.key, r.member, r.start.Format("05.000"))
}

// inversions wants what comes before a run in its lane to have succeeded.
func (p *proof) inversions() {
	for _, runs := range lanesOf(p.runs, p.Order) {
		slices.SortFunc(runs, byOffset)
		before := runs[0].offset
		for i, r := range runs {
			if i > 0 && runs[i-1].offset != r.offset {
				before = runs[i-1].offset
			}
			if before == r.offset {
				continue
			}
			if at, ok := p.done[message{r.partition, before}]; !ok || at.After(r.start) {
				p.fault("%v starts before %d has succeeded", r, before)
			}
		}
	}
}

// rewinds wants the runs of a claim to go forwards in each lane: what is tried again is tried before what follows.
func (p *proof) rewinds() {
	for _, runs := range lanesOf(p.runs, p.Order) {
		latest := map[string]*run{}
		for _, r := range runs {
			claim := fmt.Sprint(r.member, " ", r.claim)
			if x := latest[claim]; x != nil && x.offset > r.offset {
				p.fault("%v starts after %v in the same claim", r, x)
			}
			latest[claim] = r
		}
	}
}

// commits wants all that a commit calls finished to have succeeded by then, below its offset and in its map.
func (p *proof) commits() {
	seen := map[int32]int64{} // up to where each partition was looked at
	for _, e := range p.events {
		if e.Kind != Committed && e.Kind != Stored {
			continue
		}
		below := max(seen[e.Partition], p.Base)
		p.finished(e, offset.Range{From: below, To: e.Offset})
		seen[e.Partition] = max(below, e.Offset)
		state, _ := offset.Decode(e.Text, e.Offset) // what is not ours has no map
		for _, x := range state.Finished {
			p.finished(e, x)
		}
	}
}

// finished wants a range to have succeeded when the event came.
func (p *proof) finished(e Event, x offset.Range) {
	for o := x.From; o < x.To; o++ {
		at, ok := p.done[message{e.Partition, o}]
		if (!ok || at.After(e.At)) && !p.absent(e.Partition, o) {
			p.fault("%v: %d had not succeeded", e, o)
		}
	}
}

func (p *proof) absent(partition int32, o int64) bool {
	return p.Absent != nil && p.Absent(partition, o)
}

func (p *proof) losses() {
	for partition, end := range p.Ends {
		for o := p.Base; o < end; o++ {
			if _, ok := p.done[message{partition, o}]; !ok && !p.absent(partition, o) {
				p.fault("%d@%d has no run that succeeded", partition, o)
			}
		}
	}
}

// WantSound holds the history against the order of the group, once all partitions are done: nothing is lost, and what [History.Faults]
// says. absent are the offsets that the log does not have, nil for none.
func (g *Group) WantSound(absent func(partition int32, offset int64) bool) {
	g.t.Helper()
	r := Rules{Order: g.Order, Base: g.Base, Ends: map[int32]int64{}, Absent: absent}
	for p := range g.Partitions {
		end, err := g.Broker.EndOffset(g.Topic, p)
		g.must(err)
		r.Ends[p] = end
	}
	if faults := g.Faults(r); len(faults) > 0 {
		g.Errorf("%d faults with order by %v:\n%s\n", len(faults), g.Order, strings.Join(faults[:min(len(faults), 20)], "\n"))
	}
}
