package check_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

var allowed = []plant{
	{"S5", "two keys of a partition at once, by key", "", func(*tale) {}},
	{"S5", "a partition in turn", "", (*tale).inTurn},
	{"S5", "a key at once and backwards, in no order", "", func(t *tale) {
		t.order = "none"
		t.change(at(310*ms), move(150*ms))
	}},
	{"S5", "messages without a key at once and backwards", "", func(t *tale) {
		t.change(at(310*ms), move(150*ms))
		t.change(func(e ledger.Event) bool { return e.Key != "" }, func(e *ledger.Event) { e.Key = "" })
	}},
	{"G12", "a member that was cut off, until its lease is over", "", func(t *tale) {
		together(3000 * ms)(t)
		t.hit("cut", ledger.OfMember, "A.1", 1000*ms, 3450*ms)
	}},
	{"G12", "a member that was removed, until its next heartbeat", "", func(t *tale) {
		together(2400 * ms)(t)
		t.hit("expel", ledger.OfMember, "A.1", 1000*ms, 1010*ms)
	}},
	{"G12", "a member that was removed and begins after the next owner, before it hears of it", "", func(t *tale) {
		t.run("A.1", 9, 3, "x", 1420*ms, 1440*ms)
		t.change(of(ledger.Gone, "A.1"), move(1600*ms))
		t.hit("expel", ledger.OfMember, "A.1", 1000*ms, 1010*ms)
	}},
	{"G13", "a task whose member has just missed a generation", "", func(t *tale) {
		t.tell(12_040*ms, "B.1", ledger.Assigned, generation(4))
		t.tell(12_050*ms, "B.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Offset, e.Key = 2, 4, "x" })
	}},
	{"S3", "a claim of a member that was removed and has not heard of it", "", func(t *tale) {
		t.tell(1450*ms, "C.1", ledger.Claimed, generation(1))
	}},
	{"L1b", "a partition whose next owner is hit as well", "", func(t *tale) {
		t.shift(1300*ms, 18*time.Second)
		t.hitAs(2, "kill", ledger.OfMember, "A.1", 1100*ms, 2000*ms)
		t.hitAs(3, "slow", ledger.OfMember, "B.1", 8000*ms, 17_000*ms)
	}},
	{"L3", "what ends while a round takes long", "", func(t *tale) {
		t.tell(9*time.Second, "B.1", ledger.Session, said("rebalance"))
		t.tell(14_400*ms, "B.1", ledger.Assigned, generation(3))
		t.change(at(12_110*ms), move(14_500*ms))
	}},
	{"L1", "a claim that lets go late", "", func(t *tale) { t.change(at(1010*ms), func(e *ledger.Event) { e.Took = 2900 * ms }) }},
	{"L1", "a claim of a frozen process", "", func(t *tale) {
		t.change(at(1010*ms), func(e *ledger.Event) { move(5010 * ms)(e); e.Took = 4900 * ms })
		t.change(of(ledger.Stopped, "A.1"), move(5100*ms))
		t.change(of(ledger.Gone, "A.1"), move(5200*ms))
		t.hit("freeze", ledger.OfMember, "A.1", 1500*ms, 4500*ms)
	}},
	{"L1b", "a partition that nobody has for a while", "", func(t *tale) { t.shift(1300*ms, 15_600*ms) }},
	{"L2", "a pause", "", func(t *tale) { t.shift(12_000*ms, 19*time.Second) }},
	{"L3", "a commit that is a bit late", "", func(t *tale) { t.change(at(12_110*ms), move(13_350*ms)) }},
	{"L4", "a stop", "", stopsAt(25_900 * ms)},
	{"L4", "a stop while the network is cut", "", func(t *tale) {
		stopsAt(29_900 * ms)(t)
		t.hit("cut", ledger.OfMember, "B.1", 21_000*ms, 29_000*ms)
	}},
	{"L4", "a stop of a frozen process", "", func(t *tale) {
		stopsAt(34_000 * ms)(t)
		t.hit("freeze", ledger.OfMember, "B.1", 22_500*ms, 27_500*ms)
	}},
	{"L4", "a member that leaves while another one is cut off", "", func(t *tale) {
		t.shift(50*ms, 10*time.Second)
		t.shift(11_300*ms, time.Second)
		t.hit("cut", ledger.OfMember, "B.1", 11_000*ms, 12_000*ms)
	}},
	{"L4", "a member that leaves, and the only other one has just come", "", func(t *tale) {
		t.shift(50*ms, 10*time.Second)
		t.shift(11_300*ms, time.Second)
		t.change(of(ledger.Spawned, "B.1"), move(8000*ms))
	}},
	{"L6", "a pause that ends", "", func(t *tale) { t.paused(7500 * ms) }},
	{"L7", "what rises by chance", "", rises(func(u *ledger.Usage, d float64) {
		u.Heap += int64(d * 2.8 * (1 << 20))
		u.RSS += int64(d * 15 * (1 << 20))
		u.Goroutines += int(d * 28)
		u.Files += int(d * 9)
		u.Lag += int64(d * 95)
	})},
}

// What lies within a bound is no violation, however near to it.
func TestWhatIsAllowedHolds(t *testing.T) {
	for _, test := range allowed {
		history := sound()
		test.spoil(history)
		if r := history.check(); slices.Contains(r.Broken(), test.rule) || r.Checked[test.rule]+r.Exempt[test.rule] == 0 {
			t.Errorf("%s, %s: %d tests, %v", test.rule, test.what, r.Checked[test.rule], r.Violations)
		}
	}
}

// when a new generation is heard of.
const when = 30 * time.Second

// explanation is something that happens around that time.
type explanation struct {
	what     string
	explains bool
	tell     func(*tale)
}

func explanations() []explanation {
	session := func(at time.Duration, text, own string) func(*tale) {
		return func(t *tale) {
			t.tell(at, "B.1", ledger.Session, func(e *ledger.Event) { e.Text, e.Own = text, own })
		}
	}
	fault := func(name string, class ledger.Class, lasts time.Duration) func(*tale) {
		return func(t *tale) { t.hit(name, class, "C.1", when-lasts-500*ms, when-500*ms) }
	}
	tell := func(before time.Duration, k ledger.Kind, text string) func(*tale) {
		return func(t *tale) { t.tell(when-before, "C.1", k, said(text)) }
	}
	return []explanation{
		{"nothing", false, func(*tale) {}},
		{"a process that comes", true, tell(4900*ms, ledger.Spawned, "")},
		{"a process that came before", false, tell(5100*ms, ledger.Spawned, "")},
		{"a process that has just been let in, long after it came", true, func(t *tale) {
			tell(15*time.Second, ledger.Spawned, "")(t)
			t.tell(when+ms, "C.1", ledger.Assigned, generation(3))
		}},
		{"a process that came while the brokers were down", true, func(t *tale) {
			tell(9*time.Second, ledger.Spawned, "")(t)
			t.hit("kill-coordinator", ledger.OfCluster, "", when-8*time.Second, when-3*time.Second)
		}},
		{"a process that stops", true, tell(5900*ms, ledger.Stopping, "")},
		{"a process that was to stop before", false, tell(6100*ms, ledger.Stopping, "")},
		{"a process that has stopped", true, tell(4900*ms, ledger.Gone, "stopped")},
		{"a process that had stopped before", false, tell(5100*ms, ledger.Gone, "stopped")},
		{"a process that was killed", true, tell(5900*ms, ledger.Gone, "killed")},
		{"a process that was killed before", false, tell(6100*ms, ledger.Gone, "killed")},
		{"a session that has ended for the rebalance", false, session(when-ms, "rebalance", "")},
		{"a session that was lost", true, session(when-4900*ms, "membership lost", "")},
		{"a session that is known to be lost after", true, session(when+2900*ms, "membership lost", "")},
		{"a session that is lost later", false, session(when+3100*ms, "membership lost", "")},
		{"a claim that has failed", true, session(when-ms, "claim failed", "")},
		{"a member that asks for it", true, session(when-ms, "rebalance", ledger.AsksAgain)},
		{"a topic that has grown", true, session(when-ms, "rebalance", ledger.HasGrown)},
		{"a session of another group", false, func(t *tale) {
			session(when-ms, "membership lost", "")(t)
			t.change(of(ledger.Session, "B.1"), func(e *ledger.Event) { e.Group = "h" })
		}},
		{"a member that is cut off for longer than its session timeout", true, fault("cut", ledger.OfMember, 1100*ms)},
		{"a member that is cut off for less", false, fault("cut", ledger.OfMember, 900*ms)},
		{"a frozen member", true, fault("freeze", ledger.OfMember, 1100*ms)},
		{"a member that blinks", false, fault("blink", ledger.OfMember, 900*ms)},
		{"leaders that move", false, fault("move-leaders", ledger.OfCluster, 3*time.Second)},
		{"a node that is paused", false, fault("pause-node", ledger.OfCluster, 3*time.Second)},
		{"brokers that restart", false, fault("roll-brokers", ledger.OfCluster, 10*time.Second)},
		{"a planned change that is none of the group's", false, fault("add-partitions", ledger.Planned, 3*time.Second)},
	}
}

// A new generation needs a reason in its own group. The bounds of the group: session and rebalance timeout 1 s.
func TestWhatExplainsARebalance(t *testing.T) {
	for _, test := range explanations() {
		history := sound()
		history.shift(20*time.Second, 30*time.Second) // the end
		test.tell(history)
		history.tell(when, "B.1", ledger.Assigned, generation(3))
		history.tell(when+4*time.Second, "A.1", ledger.Assigned, generation(3)) // who hears of it late needs no other reason
		r := history.check()
		n := 0
		for _, v := range r.Violations {
			if v.Rule == "L5" && v.At == when {
				n++
			}
		}
		if (n == 0) != test.explains || n > 1 {
			t.Errorf("%s: explains it is %v, want %v: %v", test.what, n == 0, test.explains, r.Violations)
		}
	}
}

// What planned changes do can be told of those that no fault was felt in.
func TestPlannedChangesAreCounted(t *testing.T) {
	r := sound().check()
	if r.Planned != 1 || r.Alone != 1 || r.Checked["G13"] != 2 {
		t.Errorf("%d of %d, and %d runs have seen them, want 1, 1 and 2", r.Alone, r.Planned, r.Checked["G13"])
	}
	history := sound()
	history.hit("cut", ledger.OfMember, "B.1", 20*ms, 30*ms)
	if r := history.check(); r.Planned != 1 || r.Alone != 0 || r.Checked["G13"] != 0 {
		t.Errorf("after a fault: %d of %d, and %d runs", r.Alone, r.Planned, r.Checked["G13"])
	}
}
