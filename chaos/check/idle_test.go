package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
)

const second = time.Second

// beside tells of a second partition beside the sound history, which is made longer: the group gets on all the time.
func (t *tale) beside(tell func(*tale)) {
	late := func(e ledger.Event) bool { return e.At >= 20*second }
	t.change(late, func(e *ledger.Event) { move(e.At + 100*second)(e) })
	for i := range int64(10) {
		at := 20*second + time.Duration(i)*10*second
		t.run("B.1", 100+i, 5+i, "x", at, at+100*ms)
		t.stored(at+110*ms, 8, 2, 6+i)
	}
	t.change(of(ledger.Produced, ""), func(e *ledger.Event) { e.Offset = 15 })
	other := &tale{partition: 1}
	other.tell(1310*ms, "B.1", ledger.Claimed, nil)
	tell(other)
	other.tell(122_010*ms, "B.1", ledger.Released, nil)
	t.events = append(t.events, other.events...)
}

// starving tells of a message that comes at 30 s, and that the claim begins at 70 s only.
func starving(t *tale) {
	t.sent(30*second, 0)
	t.run("B.1", 50, 0, "x", 70*second, 70_100*ms)
	t.stored(70_110*ms, 8, 2, 1)
}

// The group as a whole has got on: no other rule sees it.
func TestOnlyTheRuleByPartitionSeesOneThatStandsStill(t *testing.T) {
	history := sound()
	history.beside(starving)
	r := history.check()
	if !slices.Equal(r.Broken(), []string{"L2b"}) || r.Owed < 39*second || r.Owed > 41*second {
		t.Errorf("%v, longest %v", r.Violations, r.Owed)
	}
}

func TestWorkThatIsLeftIsFound(t *testing.T) {
	history := sound()
	history.beside(func(t *tale) { t.sent(30*second, 0) })
	if r := history.check(); !slices.Equal(r.Broken(), []string{"L2b"}) {
		t.Errorf("%v", r.Violations)
	}
}

// What nobody can be blamed for, each beside the same starvation.
func TestAStandstillIsExcused(t *testing.T) {
	busy := func(first, n int64, member string) func(*tale) {
		return func(t *tale) { // tasks that have begun before, and end after
			for i := range n {
				t.run(member, first+i, 10+i, string(rune('a'+i)), 25*second, 69*second)
			}
		}
	}
	unclaimed := func(t *tale) {
		t.drop(of(ledger.Claimed, "B.1"))
		t.tell(69*second, "B.1", ledger.Claimed, nil)
	}
	for name, test := range map[string]struct {
		found bool
		tell  func(*tale)
	}{
		"nothing":                                {true, func(*tale) {}},
		"a task runs there":                      {false, busy(60, 1, "B.1")},
		"a deaf task of the member before":       {false, busy(60, 1, "A.1")},
		"all slots are taken":                    {false, elsewhere(busy(60, 4, "B.1"))},
		"a slot is free":                         {true, elsewhere(busy(60, 3, "B.1"))},
		"the brokers are disturbed":              {false, hits("pause-node", ledger.OfCluster, "")},
		"its member is cut off":                  {false, hits("cut", ledger.OfMember, "B.1")},
		"another member is":                      {true, hits("cut", ledger.OfMember, "C.1")},
		"a planned change":                       {true, hits("storm", ledger.Planned, "")},
		"nobody has it":                          {true, unclaimed},
		"nobody has it, and a member is cut off": {false, both(unclaimed, hits("cut", ledger.OfMember, "C.1"))},
		"nobody is there": {false, both(unclaimed, func(t *tale) {
			t.tell(29*second, "B.1", ledger.Gone, said("stopped"))
			t.tell(68*second, "B.1", ledger.Spawned, nil)
		})},
	} {
		history := sound()
		history.beside(both(starving, test.tell))
		r := history.check()
		if found := slices.Contains(r.Broken(), "L2b"); found != test.found {
			t.Errorf("%s: found %v, want %v: %v", name, found, test.found, r.Violations)
		}
		short := strings.HasPrefix(name, "a task runs") || strings.HasPrefix(name, "a deaf") // then nothing is idle for long
		if left := r.Exempt["L2b"]; (left == 1) != (!test.found && !short) || !test.found && r.Owed > 10*second {
			t.Errorf("%s: %d tests are left out, and %v are held against it", name, left, r.Owed)
		}
	}
}

// A fault that is over long before explains nothing, and one that was short excuses its own time.
func TestAFaultExcusesItsOwnTimeOnly(t *testing.T) {
	for to, found := range map[time.Duration]bool{31 * second: false, 20 * second: true} {
		history := sound()
		history.beside(both(starving, func(t *tale) { t.hit("cut", ledger.OfMember, "B.1", 19*second, to) }))
		if r := history.check(); slices.Contains(r.Broken(), "L2b") != found {
			t.Errorf("a fault until %v: %v", to, r.Violations)
		}
	}
}

// What fails and is begun again is no standstill, each begin counts.
func TestEachBeginCounts(t *testing.T) {
	history := sound()
	history.beside(func(t *tale) {
		t.sent(30*second, 0)
		for i := range int64(3) {
			at := time.Duration(50+20*i) * second
			t.run("B.1", 50+i, 0, "x", at, at+100*ms)
		}
		t.change(func(e ledger.Event) bool { return e.Kind == ledger.Ended && e.Call < 52 }, func(e *ledger.Event) { e.Err = "failed" })
		t.stored(90_110*ms, 8, 2, 1)
	})
	if r := history.check(); len(r.Violations) > 0 || r.Owed < 19*second || r.Owed > 21*second {
		t.Errorf("%v, longest %v", r.Violations, r.Owed)
	}
}

// What a cancelled run returns is dropped: the message still waits.
func TestACancelledRunIsNoAnswer(t *testing.T) {
	history := sound()
	history.beside(func(t *tale) {
		t.sent(20*second, 0)
		t.run("B.1", 49, 0, "x", 21*second, 25*second)
		t.tell(22*second, "B.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Key = 49, "x" })
		t.run("B.1", 50, 0, "x", 70*second, 70_100*ms)
	})
	if r := history.check(); !slices.Contains(r.Broken(), "L2b") {
		t.Errorf("%v", r.Violations)
	}
}

// A ledger that does not say what was sent proves nothing.
func TestWithoutMessagesNothingIsSaidOfPartitions(t *testing.T) {
	history := sound()
	history.drop(of(ledger.Sent, ""))
	if r := history.check(); r.Unchecked["L2b"] == "" || r.Checked["L2b"] > 0 {
		t.Errorf("%d tests", r.Checked["L2b"])
	}
}

func both(a, b func(*tale)) func(*tale) {
	return func(t *tale) { a(t); b(t) }
}

func hits(name string, class ledger.Class, who string) func(*tale) {
	return func(t *tale) { t.hit(name, class, who, 29*second, 69*second) }
}

// elsewhere tells of a partition beside the one that is told of.
func elsewhere(tell func(*tale)) func(*tale) {
	return func(t *tale) {
		t.partition++
		tell(t)
		t.partition--
	}
}
