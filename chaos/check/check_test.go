package check_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/check"
	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

const ms = time.Millisecond

// base is the Wall of time 0.
const base = int64(1_800_000_000_000_000_000)

// tale is a history that is told event by event.
type tale struct {
	events    []ledger.Event
	partition int32  // of what is told
	order     string // "" for by key
}

func (t *tale) tell(at time.Duration, member string, k ledger.Kind, change func(*ledger.Event)) {
	e := ledger.Event{At: at, Wall: base + int64(at), Member: member, Kind: k}
	if k != ledger.Spawned && k != ledger.Gone && k != ledger.Stopping && k != ledger.Settled && k != ledger.Sampled {
		e.Group, e.Partition = "g", t.partition
	}
	if change != nil {
		change(&e)
	}
	t.events = append(t.events, e)
}

// run tells of a handler call that succeeds.
func (t *tale) run(member string, call, o int64, key string, begin, end time.Duration) {
	with := func(e *ledger.Event) { e.Call, e.Offset, e.Key = call, o, key }
	t.tell(begin, member, ledger.Started, with)
	t.tell(end, member, ledger.Ended, with)
}

// sent tells that a message was acknowledged.
func (t *tale) sent(at time.Duration, o int64) {
	t.tell(at, "", ledger.Sent, func(e *ledger.Event) { e.Offset = o })
}

func (t *tale) stored(at time.Duration, owner uint64, count, next int64, finished ...offset.Range) {
	text := offset.State{Stamp: offset.Stamp{Owner: owner, Count: count}, Next: next, Finished: finished}.Encode(offset.MaxText)
	t.tell(at, "", ledger.Stored, func(e *ledger.Event) { e.Offset, e.Text = next, text })
}

// hourOfSamples is how many samples are told of an hour in the life of a process.
const hourOfSamples = 1200

// live tells of that hour.
func (t *tale) live(use func(i int, u *ledger.Usage)) {
	for i := range hourOfSamples {
		t.tell(time.Duration(i+1)*3*time.Second, "C.1", ledger.Sampled, func(e *ledger.Event) {
			e.Usage = &ledger.Usage{Clean: i%20 == 0}
			use(i, e.Usage)
		})
	}
}

// paused tells of a claim of B that is paused with nothing in its backlog for that long, and then no longer.
func (t *tale) paused(lasts time.Duration) {
	for _, at := range []time.Duration{0, lasts / 2, lasts, lasts + time.Second} {
		t.tell(10_000*ms+at, "B.1", ledger.Sampled, func(e *ledger.Event) {
			e.Usage = &ledger.Usage{Stuck: 1}
			if at > lasts {
				e.Usage.Stuck = 0
			}
		})
	}
}

func said(text string) func(*ledger.Event) { return func(e *ledger.Event) { e.Text = text } }

func generation(n int32) func(*ledger.Event) { return func(e *ledger.Event) { e.Generation = n } }

// sound is a history in which all is well: a member hands one partition over to another one in order.
func sound() *tale {
	t := &tale{}
	t.tell(ms, "A.1", ledger.Spawned, nil) // at 0 the book would take it for one without a time
	t.tell(ms, "B.1", ledger.Spawned, nil)
	t.tell(90*ms, "A.1", ledger.Assigned, generation(1))
	t.tell(100*ms, "A.1", ledger.Claimed, nil)
	t.stored(101*ms, 7, 1, 0)
	for o := range int64(3) {
		t.sent(150*ms, o)
	}
	t.run("A.1", 1, 0, "x", 200*ms, 300*ms)
	t.stored(310*ms, 7, 1, 1)
	t.run("A.1", 2, 1, "y", 305*ms, 500*ms)
	t.run("A.1", 3, 2, "x", 310*ms, 400*ms)
	t.stored(405*ms, 7, 1, 1, offset.Range{From: 2, To: 3})
	t.stored(505*ms, 7, 1, 3)
	leaves := func(e *ledger.Event) { e.Fault, e.Text, e.Class = 1, "leave", ledger.Planned }
	t.tell(1000*ms, "A.1", ledger.Fault, leaves)
	t.tell(1000*ms, "A.1", ledger.Stopping, nil)
	t.tell(1010*ms, "A.1", ledger.Released, func(e *ledger.Event) { e.Took = 10 * ms })
	t.tell(1100*ms, "A.1", ledger.Stopped, nil)
	t.tell(1200*ms, "A.1", ledger.Gone, said("stopped"))
	t.tell(1250*ms, "A.1", ledger.Calm, leaves)
	t.tell(1300*ms, "B.1", ledger.Assigned, generation(2))
	t.tell(1310*ms, "B.1", ledger.Claimed, nil)
	t.stored(1320*ms, 8, 2, 3)
	t.sent(1350*ms, 3)
	t.run("B.1", 1, 3, "x", 1400*ms, 1500*ms)
	t.stored(1510*ms, 8, 2, 4)
	t.run("B.1", 2, 4, "x", 12_000*ms, 12_100*ms) // in a stable group
	t.sent(12_050*ms, 4)                          // the answer was slower than the fetch
	t.stored(12_110*ms, 8, 2, 5)
	t.tell(20_000*ms, "", ledger.Produced, func(e *ledger.Event) { e.Offset = 5 })
	t.tell(20_100*ms, "", ledger.Settled, nil)
	t.tell(21_000*ms, "B.1", ledger.Sampled, func(e *ledger.Event) { e.Usage = &ledger.Usage{Goroutines: 10} })
	t.tell(22_000*ms, "B.1", ledger.Stopping, nil)
	t.tell(22_010*ms, "B.1", ledger.Released, nil)
	t.tell(22_100*ms, "B.1", ledger.Stopped, nil)
	t.tell(22_200*ms, "B.1", ledger.Gone, said("stopped"))
	return t
}

func (t *tale) check() *check.Report {
	b := ledger.NewBook(ledger.Header{Seed: 1, Groups: []ledger.Group{{
		Name: "g", Order: cmp.Or(t.order, "key"), Partitions: 1, Slots: 4, SessionTimeout: time.Second, RebalanceTimeout: time.Second, Heartbeat: 100 * ms,
		StopGrace: time.Second, Lease: 750 * ms,
	}}}, nil)
	for _, e := range t.events {
		b.Add(e)
	}
	return check.Check(b)
}

// change changes the events that match.
func (t *tale) change(match func(ledger.Event) bool, change func(*ledger.Event)) {
	for i := range t.events {
		if match(t.events[i]) {
			change(&t.events[i])
		}
	}
}

func (t *tale) drop(match func(ledger.Event) bool) { t.events = slices.DeleteFunc(t.events, match) }

func at(d time.Duration) func(ledger.Event) bool {
	return func(e ledger.Event) bool { return e.At == d }
}

func of(k ledger.Kind, member string) func(ledger.Event) bool {
	return func(e ledger.Event) bool { return e.Kind == k && e.Member == member }
}

// move sets the time of an event, both clocks.
func move(to time.Duration) func(*ledger.Event) {
	return func(e *ledger.Event) { e.At, e.Wall = to, base+int64(to) }
}

func TestASoundHistoryHolds(t *testing.T) {
	r := sound().check()
	for _, v := range r.Violations {
		t.Errorf("%s: %s", v.Rule, v.Text)
	}
	for _, rule := range check.Rules {
		never := rule.ID == "G12" || rule.ID == "L7" || r.Unchecked[rule.ID] != "" // nothing overlaps here, nothing is old here
		if r.Checked[rule.ID] == 0 && !never {
			t.Errorf("%s was not put to the test", rule.ID)
		}
	}
	if r.Messages != 5 || r.Runs != 5 || len(r.Repeats)+len(r.Wasted)+len(r.Overlaps) > 0 || len(r.Lateness) != 1 {
		t.Errorf("%+v", r)
	}
}

// neverStored is what became of A's run of 1: nobody committed its end, and B takes over without it.
func (t *tale) neverStored() {
	t.drop(at(505 * ms))
	t.drop(at(1320 * ms))
	t.stored(1320*ms, 8, 2, 1, offset.Range{From: 2, To: 3})
}

// hit puts a fault of a class over a time.
func (t *tale) hit(name string, class ledger.Class, who string, from, to time.Duration) {
	t.hitAs(2, name, class, who, from, to)
}

func (t *tale) hitAs(number int, name string, class ledger.Class, who string, from, to time.Duration) {
	f := func(e *ledger.Event) { e.Fault, e.Text, e.Class = number, name, class }
	t.tell(from, who, ledger.Fault, f)
	t.tell(to, who, ledger.Calm, f)
}

func TestAFaultExplains(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		class        ledger.Class
		who          string
	}{
		{"cut", "cut", ledger.OfMember, "A.1"},
		{"cut", "commit refused after cut", ledger.OfMember, "B.1"},
		{"pause-node", "pause-node", ledger.OfCluster, ""},
	} {
		history := sound()
		again(history)
		history.tell(700*ms, "A.1", ledger.Answered, func(e *ledger.Event) { e.Offset, e.Err = 3, "not the current generation" })
		history.hit(test.name, test.class, test.who, 450*ms, 900*ms)
		r := history.check()
		if len(r.Violations) > 0 || r.Repeats[test.reason] != 1 {
			t.Errorf("%s: %v, repeats %v", test.reason, r.Violations, r.Repeats)
		}
	}
}

// Whoever misses a generation runs its tasks again, as documented.
func TestAMissedGenerationExplains(t *testing.T) {
	history := sound()
	history.neverStored()
	history.tell(600*ms, "A.1", ledger.Assigned, generation(3)) // the one that has finished it
	history.change(at(1300*ms), generation(4))
	history.run("B.1", 9, 1, "y", 1350*ms, 1390*ms)
	if r := history.check(); len(r.Violations) > 0 || r.Repeats["a generation was missed"] != 1 {
		t.Errorf("%v, repeats %v", r.Violations, r.Repeats)
	}
}

// A frozen process does nothing: its time does not count, neither as an overlap nor as a late release.
func TestFrozenTimeDoesNotCount(t *testing.T) {
	history := sound()
	history.neverStored()
	history.change(at(500*ms), move(9_000*ms)) // A's run of 1 goes on while it is frozen, and has ended soon after
	history.drop(func(e ledger.Event) bool {
		return e.Member == "A.1" && (e.Kind == ledger.Gone || e.Kind == ledger.Released)
	})
	history.run("B.1", 9, 1, "y", 1350*ms, 8_900*ms)
	history.drop(at(1510 * ms))
	history.drop(at(12_110 * ms))
	history.stored(12_110*ms, 8, 2, 5)
	history.hit("freeze", ledger.OfMember, "A.1", 600*ms, 8_700*ms)
	r := history.check()
	if slices.Contains(r.Broken(), "G12") || len(r.Overlaps) != 1 || r.Overlaps[0].Lasted != 200*ms || r.Overlaps[0].Bound != 750*ms {
		t.Errorf("%v, overlaps %+v", r.Violations, r.Overlaps)
	}
}

// What did not succeed is counted, with what it cost.
func TestWasteIsCounted(t *testing.T) {
	history := sound()
	with := func(e *ledger.Event) { e.Call, e.Offset, e.Key = 8, 3, "x" }
	history.change(of(ledger.Stopping, "A.1"), move(2*ms)) // a second before
	history.tell(505*ms, "A.1", ledger.Started, with)
	history.tell(1005*ms, "A.1", ledger.Canceled, with)
	history.tell(1009*ms, "A.1", ledger.Ended, func(e *ledger.Event) { with(e); e.Err = "cancelled" })
	r := history.check()
	if w := r.Wasted["cancelled by a stop after its grace"]; w.Runs != 1 || w.Time != 504*ms || len(r.Violations) > 0 {
		t.Errorf("%v, %v", r.Wasted, r.Violations)
	}
}

// The summary of a history in which there is something of everything.
func TestTheSummary(t *testing.T) {
	history := sound()
	again(history)
	history.run("B.1", 10, 4, "x", 12_200*ms, 12_300*ms) // a violation
	history.tell(13_000*ms, "C.1", ledger.Started, func(e *ledger.Event) { e.Call, e.Offset = 1, 9 })
	history.tell(14_000*ms, "C.1", ledger.Gone, said("killed"))
	history.hit("cut", ledger.OfMember, "A.1", 450*ms, 900*ms)
	history.tell(700*ms, "", ledger.LeftOut, func(e *ledger.Event) { e.Fault, e.Text = 3, "kill" })
	want, err := os.ReadFile("testdata/summary.txt")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if history.check().Summary(&text); text.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
}

func TestWhatComesAndGoesIsLevel(t *testing.T) {
	history := sound()
	history.live(func(i int, u *ledger.Usage) { u.Goroutines = 60 + i*i%37 + 300*(1-min(1, i%100)) })
	if r := history.check(); slices.Contains(r.Broken(), "L7") || r.Checked["L7"] != 5 {
		t.Errorf("%v, %d tests", r.Violations, r.Checked["L7"])
	}
}
