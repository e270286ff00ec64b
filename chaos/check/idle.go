package check

import (
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// longestIdle is for how long nothing may begin on a partition that has work, while somebody could begin it.
const longestIdle = 30 * time.Second

// glance is how often the partitions are looked at. It is small beside the bound.
const glance = 250 * time.Millisecond

// desk is a partition, as it is at a point of the run.
type desk struct {
	waiting map[int64]bool  // what was sent and has not succeeded
	holders map[string]bool // the processes that claim it
	running int             // runs, also those that were cancelled and do not return
	idle    time.Duration   // for how long something has waited and nothing has run
	owed    time.Duration   // of it: without an excuse
}

// idles looks at all partitions over the time of a run.
type idles struct {
	*Report
	desks map[place]*desk
	open  map[call]*desk // of the runs that go on
	busy  map[seat]int   // how many of a process in a group
	void  map[call]bool  // of the open ones: they were cancelled, and what they return may not count
	alive map[string]bool
	next  time.Duration // of the next glance
}

// partitions wants something to begin within 30 s of a message, or of the end of what ran last, on each partition by itself: a group that
// gets on hides one that does not (L2b). A planned change excuses nothing.
func (r *Report) partitions() {
	w := &idles{Report: r, desks: map[place]*desk{}, open: map[call]*desk{}, busy: map[seat]int{}, void: map[call]bool{}, alive: map[string]bool{}}
	for i, e := range r.story.events {
		if i == 0 {
			w.next = e.At
		}
		for ; w.next <= e.At; w.next += glance {
			w.look()
		}
		w.take(e)
	}
	for at, d := range w.desks {
		for o := range d.waiting {
			w.answer(d, message{at, o}, w.next)
			break
		}
	}
	if r.Checked["L2b"] == 0 {
		r.Unchecked["L2b"] = "the ledger does not say what was sent"
	}
}

func (w *idles) at(p place) *desk {
	d := w.desks[p]
	if d == nil {
		d = &desk{waiting: map[int64]bool{}, holders: map[string]bool{}}
		w.desks[p] = d
	}
	return d
}

func (w *idles) take(e ledger.Event) {
	d, m := w.at(placeOf(e)), message{placeOf(e), e.Offset}
	switch e.Kind {
	case ledger.Sent:
		if done := w.story.done[m]; done == nil || done.end > e.At { // else the answer to the producer was slower than the task
			d.waiting[e.Offset] = true
		}
	case ledger.Started:
		w.answer(d, m, e.At)
		d.running++
		w.open[call{e.Member, e.Call}] = d
		w.busy[seatIn(e)]++
	case ledger.Canceled:
		w.void[call{e.Member, e.Call}] = true
	case ledger.Ended:
		w.end(e)
	case ledger.Claimed:
		d.holders[e.Member] = true
	case ledger.Released:
		delete(d.holders, e.Member)
	case ledger.Spawned:
		w.alive[e.Member] = true
	case ledger.Gone:
		w.bury(e.Member)
	default:
	}
}

// seatIn is a process in a group.
func seatIn(e ledger.Event) seat { return seat{e.Member, place{group: e.Group}} }

func (w *idles) end(e ledger.Event) {
	id := call{e.Member, e.Call}
	d := w.open[id]
	if d == nil {
		return
	}
	delete(w.open, id)
	d.running--
	w.busy[seatIn(e)]--
	if e.Err == "" && (e.Text != ledger.Late && !w.void[id] || !w.again(message{placeOf(e), e.Offset}, e.At)) {
		delete(d.waiting, e.Offset)
	}
	delete(w.void, id)
	if len(d.waiting) == 0 {
		d.idle, d.owed = 0, 0
	}
}

// again says that a message is begun once more later.
func (w *idles) again(m message, after time.Duration) bool {
	return slices.ContainsFunc(w.story.of[m], func(x *run) bool { return x.begin > after })
}

func (w *idles) bury(process string) {
	delete(w.alive, process)
	for id, d := range w.open {
		if id.process == process {
			d.running--
			delete(w.open, id)
		}
	}
	for _, d := range w.desks {
		delete(d.holders, process)
	}
}

// answer counts one test: at a begin on an idle partition, or at the end of the run.
func (w *idles) answer(d *desk, m message, at time.Duration) {
	if len(d.waiting) == 0 || d.running > 0 {
		return
	}
	w.Idle, w.Owed = max(w.Idle, d.idle), max(w.Owed, d.owed)
	const bound = longestIdle + Slack
	if d.idle > bound && d.owed <= bound {
		w.Exempt["L2b"]++
	} else {
		w.holds(d.owed <= bound, where{rule: "L2b", at: at, of: &m}, "%s %d had work and began nothing for %v, in %v of which a member could have", m.group, m.partition, d.idle, d.owed)
	}
	d.idle, d.owed = 0, 0
}

// look is one glance.
func (w *idles) look() {
	var sky *weather // most of the time nobody asks
	for at, d := range w.desks {
		if len(d.waiting) == 0 || d.running > 0 {
			continue
		}
		if sky == nil {
			sky = w.story.weather(w.next)
		}
		d.idle += glance
		if !w.excused(at, d, sky) {
			d.owed += glance
		}
	}
}

// excused says that nobody could begin anything: the brokers are disturbed; or no member that is whole has the partition, which a fault of
// anybody may be to blame for; or those that have it have no slot free.
func (w *idles) excused(at place, d *desk, sky *weather) bool {
	if sky.cluster {
		return true
	}
	whole := 0
	for holder := range d.holders {
		if sky.hit[holder] {
			continue
		}
		whole++
		if w.busy[seat{holder, place{group: at.group}}] < w.story.groups[at.group].Slots {
			return false
		}
	}
	return whole > 0 || len(sky.hit) > 0 || len(w.alive) == 0
}
