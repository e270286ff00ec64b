// Package check holds a ledger against what is promised: S1 to S9 are about safety, L1 to L7 about progress. It only reads the ledger, so
// that a run can be checked again, and a check can be checked itself.
package check

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

// Rules are what is checked.
var Rules = []struct{ ID, Text string }{
	{"S1", "nothing is lost: each message has a run that succeeded"},
	{"S2", "a commit says finished only of what has finished by then, below its offset and in its map, and none goes back but a late one, which is mended"},
	{"S3", "no commit of a former owner is stored once another process claims the partition; the take-over count does not fall, and each has one owner"},
	{"S4", "what was committed as finished when a claim began is not started by it"},
	{"S5", "runs of a key (or partition) do not overlap in a process, and come in order"},
	{"S6", "a message that has succeeded runs again only where a fault explains it"},
	{"S7", "attempts rise up to their maximum, and a dead letter is confirmed before its commit"},
	{"S8", "commit metadata is at most 4,096 bytes and can always be read"},
	{"S9", "a fencing token rises with each owner"},
	{"G12", "two processes run a message at the same time for no longer than is documented"},
	{"G13", "a planned change cancels nothing but what a member that stops still has after its grace"},
	{"L1", "a claim lets go within its grace + 1 s, and before its member has stopped"},
	{"L1b", "no partition is without a claim for longer than 15 s"},
	{"L2", "each group finishes something every 30 s while there is work"},
	{"L2b", "on each partition something begins within 30 s of a message or of the last end, where a member can begin it"},
	{"L3", "what has finished is committed at once while the group is stable, and all of it at rest"},
	{"L4", "a stop ends within its grace + 2 s (6 s where brokers are out of reach), and the group knows of it"},
	{"L5", "no session is lost and no rebalance comes without a cause"},
	{"L6", "at rest nothing runs, waits or is paused"},
	{"L7", "memory, goroutines, descriptors and lag stay level"},
}

// later are rules about what does not exist yet.
var later = map[string]string{
	"S7": "there are no dead letters yet",
	"S9": "there are no fencing tokens yet",
}

// Slack is what a machine with two cores, three brokers and a dozen members may add to a bound.
const Slack = time.Second

// Violation is something that must not be.
type Violation struct {
	Rule string
	At   time.Duration
	Text string
	Of   *message // nil where it is of no message
}

// Place is the group and the partition of a violation, "" where it is of none.
func (v Violation) Place() (group string, partition int32) {
	if v.Of == nil {
		return "", 0
	}
	return v.Of.group, v.Of.partition
}

// Report is what a check has found.
type Report struct {
	Violations []Violation
	Checked    map[string]int    // how often each rule was put to the test
	Exempt     map[string]int    // how often it was not, because of a fault
	Unchecked  map[string]string // why a rule was not
	Messages   int               // that succeeded
	Runs       int               // handler calls
	Commits    int               // that were stored
	Ghosts     int               // of them that had been given up unanswered, and came after later ones
	Rebalances int               // assignments heard, by all members
	Faults     map[string]int    // by nemesis
	LeftOut    map[string]int    // by nemesis: faults that were not made
	Planned    int               // of the faults: planned changes
	Alone      int               // of the planned changes: those in which no fault was felt
	Repeats    map[string]int    // starts of what had succeeded before, by their reason
	Overlaps   []Overlap         // of two processes
	Deaf       []time.Duration   // the time of two processes with the same work of which one was cancelled, and ignored it
	Wasted     map[string]Waste  // runs that did not succeed, and those of what had succeeded before, by their reason
	Lateness   []time.Duration   // from an end to the commit that has it, while the group was stable; sorted
	Idle       time.Duration     // the longest for which a partition with work began nothing
	Owed       time.Duration     // the same, without what excuses it

	story *story
	late  map[*ledger.Event]bool // see Ghosts
}

// Overlap is the time for which two processes both ran a message or a key and thought it theirs.
type Overlap struct {
	Lasted time.Duration
	Bound  time.Duration // documented
	Reason string
}

// Waste is work that was thrown away.
type Waste struct {
	Runs int
	Time time.Duration
}

// Check holds a book against the rules.
func Check(b *ledger.Book) *Report {
	r := &Report{
		Checked: map[string]int{}, Exempt: map[string]int{}, Unchecked: map[string]string{}, Faults: map[string]int{}, LeftOut: map[string]int{}, Repeats: map[string]int{}, Wasted: map[string]Waste{},
		story: read(b), late: map[*ledger.Event]bool{},
	}
	for _, f := range []func(){
		r.count, r.losses, r.prefixes, r.answered, r.stamps, r.takeovers, r.results, r.resumes, r.overlaps, r.inversions, r.repeats, r.texts, r.interruptions,
		r.releases, r.dwells, r.partings, r.progress, r.partitions, r.latenesses, r.stops, r.causes, r.rest, r.unlatched, r.level, r.crashes,
	} {
		f()
	}
	r.Ghosts = len(r.late)
	maps.Copy(r.Unchecked, later)
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return int(a.At - b.At) })
	return r
}

// where is what a test of a rule is about.
type where struct {
	rule string
	at   time.Duration
	of   *message // nil where it is of no message
}

// holds counts one test of a rule, and a violation when it has failed.
func (r *Report) holds(ok bool, w where, format string, args ...any) {
	r.Checked[w.rule]++
	if !ok {
		r.Violations = append(r.Violations, Violation{w.rule, w.at, fmt.Sprintf(format, args...), w.of})
	}
}

func (r *Report) count() {
	s := r.story
	r.Messages, r.Runs = len(s.done), len(s.runs)
	for _, list := range s.stored {
		r.Commits += len(list)
	}
	for _, f := range s.faults {
		r.Faults[f.name]++
	}
	for _, e := range s.events {
		switch e.Kind {
		case ledger.Assigned:
			r.Rebalances++
		case ledger.LeftOut:
			r.LeftOut[e.Text]++
		default:
		}
	}
	for _, x := range s.runs {
		r.waste(x)
	}
}

// waste counts what a run that did not succeed has cost.
func (r *Report) waste(x *run) {
	reason := "failed by itself"
	switch {
	case x.good || x.end == far:
		return
	case x.gone:
		reason = "process gone"
	case x.cancel != far:
		reason = "cancelled after a planned change"
		if r.story.graceIsOver(x.process, x.cancel) {
			reason = "cancelled by a stop after its grace"
		}
		if f := r.story.disturbedBy(x.process, x.cancel, x.cancel, aftermath); f != nil {
			reason = "cancelled after " + f.name
		} else if f := r.story.unplanned(x.cancel); f != nil {
			reason = "cancelled after " + f.name + " of another member"
		}
	}
	r.wasted(reason, x)
}

func (r *Report) wasted(reason string, x *run) {
	w := r.Wasted[reason]
	r.Wasted[reason] = Waste{w.Runs + 1, w.Time + x.end - x.begin}
}

// aftermath is how long a fault is felt after its end.
const aftermath = 12 * time.Second

// longestHistory is how many events a violation is printed with.
const longestHistory = 60

// Print writes the violations, each with the history of its message.
func (r *Report) Print(out io.Writer) {
	for _, v := range r.Violations {
		fmt.Fprintln(out)
		r.title(out, v)
		for _, e := range r.story.history(v) {
			fmt.Fprintf(out, "  %9.3f %v\n", r.story.since(e.At), e)
		}
	}
}

// mostTitles is how many violations the end of the output names.
const mostTitles = 10

// Titles writes a line for each of the first violations.
func (r *Report) Titles(out io.Writer) {
	for _, v := range r.Violations[:min(len(r.Violations), mostTitles)] {
		r.title(out, v)
	}
}

func (r *Report) title(out io.Writer, v Violation) {
	fmt.Fprintf(out, "%s VIOLATED at %.3f s: %s\n", v.Rule, r.story.since(v.At), v.Text)
}

// since is the time of a run, in seconds.
func (s *story) since(at time.Duration) float64 {
	if len(s.events) > 0 {
		at -= s.events[0].At
	}
	return at.Seconds()
}

// history is what has to do with a violation.
func (s *story) history(v Violation) (list []ledger.Event) {
	for _, e := range s.events {
		if concerns(e, v) {
			list = append(list, e)
		}
	}
	if len(list) <= longestHistory {
		return list
	}
	// What is nearest to it in time.
	i, _ := slices.BinarySearchFunc(list, v.At, func(e ledger.Event, at time.Duration) int { return int(e.At - at) })
	from := min(max(i-longestHistory*2/3, 0), len(list)-longestHistory)
	return list[from : from+longestHistory]
}

func concerns(e ledger.Event, v Violation) bool {
	switch e.Kind {
	case ledger.Fault, ledger.Calm, ledger.Spawned, ledger.Gone, ledger.Stopping:
		return true
	case ledger.Claimed, ledger.Released, ledger.Stored, ledger.Answered:
		return v.Of != nil && placeOf(e) == v.Of.place
	case ledger.Sent, ledger.Started, ledger.Ended, ledger.Canceled:
		return v.Of != nil && placeOf(e) == v.Of.place && e.Offset == v.Of.offset
	case ledger.Assigned, ledger.Session, ledger.Stopped:
		return v.Of == nil || e.Group == v.Of.group
	default:
		return false
	}
}
