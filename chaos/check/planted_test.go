package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/check"
	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/internal/offset"
)

// plant is a history with one thing wrong, and the rule that has to find it.
type plant struct {
	rule, what string
	spoil      func(*tale)
}

var planted = []plant{
	{"S1", "a message without a run", func(t *tale) { t.change(of(ledger.Produced, ""), func(e *ledger.Event) { e.Offset = 6 }) }},
	{"S1", "a message whose only run failed", func(t *tale) { t.change(at(12_100*ms), func(e *ledger.Event) { e.Err = "failed" }) }},
	{"S2", "a commit before the end", func(t *tale) { t.change(at(300*ms), move(312*ms)) }},
	{"S2", "a map that says too much", func(t *tale) {
		t.drop(at(405 * ms))
		t.stored(405*ms, 7, 1, 1, offset.Range{From: 2, To: 4})
	}},
	{"S2", "a commit that goes back", func(t *tale) { t.stored(1600*ms, 8, 2, 2) }},
	{"S2", "an answer to a commit that nobody stored", func(t *tale) {
		t.tell(12_105*ms, "B.1", ledger.Answered, func(e *ledger.Event) { e.Offset = 7 })
	}},
	{"S3", "a commit of the former owner", func(t *tale) { t.stored(1600*ms, 7, 1, 4) }},
	{"S3", "two owners of one take-over", func(t *tale) { t.stored(1600*ms, 9, 2, 4) }},
	{"S4", "a start of what is below the commit", func(t *tale) { t.run("B.1", 9, 2, "x", 1350*ms, 1390*ms) }},
	{"S4", "a start of what is in the map", func(t *tale) {
		t.neverStored()
		t.run("B.1", 8, 1, "y", 1330*ms, 1340*ms)
		t.run("B.1", 9, 2, "x", 1350*ms, 1390*ms)
	}},
	{"S4", "a start without a claim", func(t *tale) { t.drop(of(ledger.Claimed, "B.1")) }},
	{"S5", "two runs of a key at once", func(t *tale) { t.change(at(310*ms), func(e *ledger.Event) { move(250 * ms)(e) }) }},
	{"S5", "a key out of order", func(t *tale) {
		t.change(func(e ledger.Event) bool { return e.Call == 3 && e.Member == "A.1" }, func(e *ledger.Event) { move(e.At - 195*ms)(e) })
		t.change(at(115*ms), move(110*ms))
		t.change(at(205*ms), move(199*ms))
	}},
	{"S5", "a key that goes back", func(t *tale) { t.run("B.1", 9, 3, "x", 12_200*ms, 12_300*ms) }},
	{"S6", "a repeat without a fault", func(t *tale) {
		t.neverStored()
		t.run("B.1", 9, 1, "y", 1350*ms, 1390*ms)
	}},
	{"S6", "a result within the grace of a stop that is not committed", func(t *tale) {
		t.neverStored()
		t.change(at(500*ms), move(1050*ms))
		t.run("B.1", 9, 1, "y", 1350*ms, 1390*ms)
	}},
	{"S6", "a repeat in the same claim, whatever the fault", func(t *tale) {
		t.run("B.1", 9, 4, "x", 12_105*ms, 12_109*ms)
		t.hit("cut", ledger.OfMember, "B.1", 11_000*ms, 13_000*ms)
	}},
	{"S6", "a repeat of what a fault came too late to explain", func(t *tale) {
		t.neverStored()
		t.run("B.1", 9, 1, "y", 3350*ms, 3390*ms)
		t.hit("cut", ledger.OfMember, "A.1", 1900*ms, 3000*ms)
	}},
	{"S8", "metadata that cannot be read", func(t *tale) { t.change(at(1510*ms), func(e *ledger.Event) { e.Text = e.Text[:len(e.Text)-1] }) }},
	{"S8", "metadata of somebody else", func(t *tale) { t.change(at(1510*ms), said("hello")) }},
	{"S8", "metadata beyond the limit", func(t *tale) { t.change(at(1510*ms), said(strings.Repeat("x", 5000))) }},
	{"G12", "two members at once for a moment, and no fault", func(t *tale) {
		t.neverStored()
		t.change(at(500*ms), move(1560*ms))
		t.drop(func(e ledger.Event) bool { return e.Member == "A.1" && e.Kind == ledger.Gone })
		t.run("B.1", 9, 1, "y", 1350*ms, 1450*ms)
	}},
	{"G12", "two members at once for too long", func(t *tale) {
		t.drop(at(505 * ms))
		t.change(at(500*ms), move(3500*ms))
		t.drop(func(e ledger.Event) bool { return e.Member == "A.1" && e.Kind == ledger.Gone })
		t.run("B.1", 9, 1, "y", 1350*ms, 3400*ms)
	}},
	{"L1", "a claim that does not let go", func(t *tale) { t.change(at(1010*ms), func(e *ledger.Event) { e.Took = 4 * time.Second }) }},
	{"L1b", "a partition that nobody has", func(t *tale) {
		t.change(func(e ledger.Event) bool { return e.At >= 1300*ms }, func(e *ledger.Event) { move(e.At + 20*time.Second)(e) })
	}},
	{"L2", "work that is left at the end", func(t *tale) {
		t.drop(at(12_110 * ms))
		t.change(of(ledger.Settled, ""), func(e *ledger.Event) { e.Kind = ledger.Unsettled })
	}},
	{"L2", "a long pause in which faults overlap", func(t *tale) {
		t.change(func(e ledger.Event) bool { return e.At >= 12_000*ms }, func(e *ledger.Event) { move(e.At + 60*time.Second)(e) })
		t.hit("pause-node", ledger.OfCluster, "", 20*time.Second, 25*time.Second)
		t.hitAs(3, "pause-node", ledger.OfCluster, "", 21*time.Second, 26*time.Second)
	}},
	{"L2", "a long pause", func(t *tale) {
		t.change(func(e ledger.Event) bool { return e.At >= 12_000*ms }, func(e *ledger.Event) { move(e.At + 40*time.Second)(e) })
	}},
	{"L2b", "a partition that stands still beside one that gets on", func(t *tale) { t.beside(starving) }},
	{"L3", "a late commit", func(t *tale) { t.change(at(12_110*ms), move(14_500*ms)) }},
	{"L3", "no commit", func(t *tale) { t.drop(at(12_110 * ms)) }},
	{"L4", "a late stop", func(t *tale) { t.change(of(ledger.Stopped, "B.1"), move(30*time.Second)) }},
	{"L4", "no stop", func(t *tale) { t.change(of(ledger.Gone, "B.1"), said("killed, for it did not stop")) }},
	{"L4", "a crash", func(t *tale) { t.change(of(ledger.Gone, "A.1"), said("ended by itself: exit status 2")) }},
	{"L5", "a lost membership", func(t *tale) { t.tell(16*time.Second, "B.1", ledger.Session, said("membership lost")) }},
	{"L4", "a Run that returns unasked", func(t *tale) { t.drop(of(ledger.Stopping, "B.1")) }},
	{"L5", "a rebalance whose only cause is its own session end", func(t *tale) {
		t.tell(16*time.Second-ms, "B.1", ledger.Session, said("rebalance"))
		t.tell(16*time.Second, "B.1", ledger.Assigned, nil)
	}},
	{"L5", "two rounds that a member asks for at once", func(t *tale) {
		for _, at := range []time.Duration{13_000 * ms, 13_400 * ms} {
			t.tell(at, "B.1", ledger.Session, func(e *ledger.Event) { e.Err = "the member asks for another round" })
		}
	}},
	{"G13", "a task that is cancelled for a newcomer", func(t *tale) {
		t.tell(12_050*ms, "B.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Offset, e.Key = 2, 4, "x" })
	}},
	{"G13", "a task that is cancelled before the grace of a stop is over", func(t *tale) {
		t.change(at(500*ms), move(1005*ms))
		t.tell(1001*ms, "A.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Offset, e.Key = 2, 1, "y" })
	}},
	{"G13", "a stop that leaves before the grace is over while a task runs", func(t *tale) {
		t.drop(at(500 * ms))
		t.neverStored()
		t.run("B.1", 9, 1, "y", 1350*ms, 1390*ms)
	}},
	{"L5", "a rebalance for nothing", func(t *tale) { t.tell(16*time.Second, "B.1", ledger.Assigned, nil) }},
	{"L5", "a fatal error", func(t *tale) { t.change(of(ledger.Stopped, "B.1"), func(e *ledger.Event) { e.Err = "refused" }) }},
	{"L6", "a task at rest", func(t *tale) { t.change(of(ledger.Sampled, "B.1"), func(e *ledger.Event) { e.Usage.Running = 1 }) }},
	{"L6", "a pause at rest", func(t *tale) { t.change(of(ledger.Sampled, "B.1"), func(e *ledger.Event) { e.Usage.Stuck = 1 }) }},
	{"L6", "a pause that stays", func(t *tale) {
		for i := range 12 {
			t.tell(13_000*ms+time.Duration(i)*time.Second/2, "B.1", ledger.Sampled, func(e *ledger.Event) { e.Usage = &ledger.Usage{Stuck: 1} })
		}
		t.tell(30_000*ms, "B.1", ledger.Sampled, func(e *ledger.Event) { e.Usage = &ledger.Usage{Stuck: 1} })
	}},
	{"L7", "goroutines that grow, slowly and by chance", func(t *tale) { t.live(func(i int) int { return 60 + i/12 + i*i%17 }) }},
}

// A check that cannot fail proves nothing.
func TestEachViolationIsFound(t *testing.T) {
	for _, p := range planted {
		t.Run(p.rule+"/"+p.what, func(t *testing.T) {
			history := sound()
			p.spoil(history)
			r := history.check()
			if !slices.Contains(r.Broken(), p.rule) {
				t.Errorf("found %v", r.Violations)
			}
			var text strings.Builder
			r.Print(&text)
			if !strings.Contains(text.String(), p.rule+" VIOLATED") {
				t.Errorf("printed:\n%s", &text)
			}
		})
	}
	for _, rule := range check.Rules {
		if !slices.ContainsFunc(planted, func(p plant) bool { return p.rule == rule.ID }) && rule.ID != "S7" && rule.ID != "S9" {
			t.Errorf("no violation of %s is planted", rule.ID)
		}
	}
}
