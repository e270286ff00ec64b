package check

import (
	"slices"
	"strings"
	"time"
)

// overlaps wants the runs of a lane not to overlap in one process (S5), and in two of them for no longer than is documented (G12). Where
// nothing has an order to keep, the lane is the message.
func (r *Report) overlaps() {
	for _, runs := range r.story.lanes() {
		var open []*run
		for _, x := range runs {
			open = slices.DeleteFunc(open, func(o *run) bool { return o.end <= x.begin })
			for _, o := range open {
				r.pair(o, x)
			}
			r.Checked["S5"]++
			open = append(open, x)
		}
	}
}

// pair looks at two runs of which the second one has begun before the first one has returned.
func (r *Report) pair(first, next *run) {
	if first.process == next.process {
		r.holds(false, where{rule: "S5", at: next.begin, of: &next.message}, "%s starts %s %d@%d while its run of %d goes on", next.process, next.group, next.partition, next.offset, first.offset)
		return
	}
	lasted := r.story.both(first, next)
	if first.cancel <= next.begin { // nobody can end a task that ignores it: it does not count, and is measured
		r.Deaf = append(r.Deaf, min(first.end, next.end)-next.begin)
	}
	if lasted == 0 {
		return
	}
	o := r.story.explain(first, next)
	o.Lasted = lasted
	r.Overlaps = append(r.Overlaps, o)
	r.holds(lasted <= o.most(), where{rule: "G12", at: next.begin, of: &next.message}, "%s and %s both run %s %d@%d for %v, want at most %v (%s)", first.process, next.process, next.group, next.partition, next.offset, lasted.Round(time.Millisecond), o.Bound, o.Reason)
}

// both is how long both count and are awake.
func (s *story) both(a, b *run) time.Duration {
	from, to := max(a.begin, b.begin), min(a.counts(), b.counts())
	if to <= from {
		return 0
	}
	asleep := (to - from - s.awake(a.process, from, to)) + (to - from - s.awake(b.process, from, to))
	return max(to-from-asleep, 0)
}

// explain says for how long two processes may both run what the second one has just begun. Without a fault not for a moment; a member
// that is cut off until the end of its lease; one that was removed until its next heartbeat.
func (s *story) explain(first, next *run) Overlap {
	a, b := s.explainBy(first.process, first.group, next.begin), s.explainBy(next.process, next.group, next.begin)
	if b.Bound > a.Bound { // who was removed may have begun after the next owner
		return b
	}
	return a
}

func (s *story) explainBy(process, group string, at time.Duration) Overlap {
	g := s.groups[group]
	f := s.disturbedBy(process, at, at, g.SessionTimeout+g.RebalanceTimeout)
	switch {
	case f == nil:
		return Overlap{Reason: "planned change"}
	case f.name == "expel":
		return Overlap{Reason: f.name, Bound: g.Heartbeat}
	default:
		return Overlap{Reason: f.name, Bound: g.Lease}
	}
}

// most is the bound, and what a slow machine may add to it. Where none is allowed it may add nothing: both times are of one clock, and
// taken inside the tasks.
func (o Overlap) most() time.Duration {
	if o.Bound == 0 {
		return 0
	}
	return o.Bound + Slack
}

// inversions wants what comes before a run in its lane to have succeeded, and the runs of one claim to go forwards (S5).
func (r *Report) inversions() {
	for l, runs := range r.story.lanes() {
		if l.offset >= 0 {
			continue
		}
		r.rewinds(runs)
		slices.SortFunc(runs, byOffset)
		var before *run // the last one of another message
		for i, x := range runs {
			if i > 0 && runs[i-1].offset != x.offset {
				before = runs[i-1]
			}
			if before != nil {
				done := r.story.done[before.message]
				r.holds(done != nil && done.end <= x.begin, where{rule: "S5", at: x.begin, of: &x.message}, "%s starts %s %d@%d before %d has succeeded", x.process, x.group, x.partition, x.offset, before.offset)
			}
		}
	}
}

func (r *Report) rewinds(runs []*run) {
	type stay struct {
		process string
		claim   int
	}
	latest := map[stay]*run{}
	for _, x := range runs {
		at := stay{x.process, x.claim}
		if last := latest[at]; last != nil {
			r.holds(last.offset <= x.offset, where{rule: "S5", at: x.begin, of: &x.message}, "%s starts %s %d@%d after %d in the same claim", x.process, x.group, x.partition, x.offset, last.offset)
		}
		latest[at] = x
	}
}

// repeats wants a fault to explain each start of what has succeeded before (S6).
func (r *Report) repeats() {
	for _, runs := range r.story.of {
		var done *run
		for _, x := range runs {
			if done != nil && done.end <= x.begin {
				r.repeat(done, x)
			}
			if x.good && (done == nil || x.end < done.end) {
				done = x
			}
		}
	}
	r.Checked["S6"] += len(r.story.runs)
}

func (r *Report) repeat(done, x *run) {
	reason := r.story.why(done, x)
	same := done.process == x.process && done.claim == x.claim && done.cancel == far
	if r.story.regained(done, x) {
		reason += ", by the same member"
	}
	r.Repeats[reason]++
	if x.good {
		r.wasted("run again after a success", x)
	}
	if same || strings.HasPrefix(reason, unexplained) {
		r.holds(false, where{rule: "S6", at: x.begin, of: &x.message}, "%s starts %s %d@%d, which %s had finished %v before, and no fault explains it",
			x.process, x.group, x.partition, x.offset, done.process, (x.begin - done.end).Round(time.Millisecond))
	}
}

const unexplained = "unexplained"

// why says what kept the end of a run from being committed: something that was there when the commit was to be stored, or the answer to it.
func (s *story) why(done, x *run) string {
	at := seat{done.process, done.place}
	if done.cancel <= done.end {
		return "succeeded after it was cancelled"
	}
	if s.outlived(at, done) && s.unplanned(done.end) != nil {
		return "succeeded after its partition had gone" // which no planned change may take away
	}
	if f := s.disturbedBy(done.process, done.end, done.end+durable+Slack, 2*time.Second); f != nil {
		return f.name
	}
	if f := s.unplanned(done.end); f != nil && s.wasRefused(at, done.end, x.begin) {
		return "commit refused after " + f.name
	}
	if s.hasMissed(at, done.end-missedFor, x.begin) {
		return "a generation was missed" // as documented: who has finished it cannot tell who had the partition in that
	}
	return unexplained
}

// outlived says that a run has ended when its process had the partition no longer.
func (s *story) outlived(at seat, r *run) bool {
	return r.claim > 0 && s.claims[at][r.claim-1].end < r.end && !s.claimed(at, r.end)
}

// claimed says whether a process had a place at a time.
func (s *story) claimed(at seat, when time.Duration) bool {
	return slices.ContainsFunc(s.claims[at], func(c claim) bool { return c.begin <= when && when <= c.end })
}

// missedFor is how long before the end of a run its process may have missed a generation, so that its commit was not sent.
const missedFor = 8 * time.Second

// hasMissed says whether a process has missed a generation of its group within a time.
func (s *story) hasMissed(at seat, from, to time.Duration) bool {
	missed := s.missed[seat{process: at.process, place: place{group: at.group}}]
	return slices.ContainsFunc(missed, func(t time.Duration) bool { return from <= t && t <= to })
}

func (s *story) wasRefused(at seat, from, to time.Duration) bool {
	return slices.ContainsFunc(s.refused[at], func(t time.Duration) bool { return from <= t && t <= to })
}

// regained says that the same process runs a message again and nobody else has had the partition in between.
func (s *story) regained(done, x *run) bool {
	if done.process != x.process {
		return false
	}
	for at, claims := range s.claims {
		if at.place == x.place && at.process != x.process &&
			slices.ContainsFunc(claims, func(c claim) bool { return c.begin <= x.begin && c.end >= done.end }) {
			return false
		}
	}
	return true
}
