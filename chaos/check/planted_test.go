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

// plant is a history with one thing wrong, the rule that has to find it, and what it has to say: a rule looks for several things.
type plant struct {
	rule, what, says string
	spoil            func(*tale)
}

// shift moves all from a time on.
func (t *tale) shift(from, by time.Duration) {
	t.change(func(e ledger.Event) bool { return e.At >= from }, func(e *ledger.Event) { move(e.At + by)(e) })
}

// inTurn makes A's runs come one after the other, as the order of a partition wants it.
func (t *tale) inTurn() {
	t.order = "partition"
	t.drop(func(e ledger.Event) bool { return e.Call == 3 || e.At == 405*ms })
	t.run("A.1", 3, 2, "x", 501*ms, 503*ms)
}

// together has A and B both run 1, from 1,350 ms on.
func together(until time.Duration) func(*tale) {
	return func(t *tale) {
		t.neverStored()
		t.change(at(500*ms), move(until+100*ms))
		t.drop(of(ledger.Gone, "A.1"))
		t.run("B.1", 9, 1, "y", 1350*ms, until)
	}
}

// again has B run what A has finished, and nobody has committed.
func again(t *tale) {
	t.neverStored()
	t.run("B.1", 9, 1, "y", 1350*ms, 1390*ms)
}

var planted = slices.Concat(plantedSafety, plantedOrder, plantedChanges, plantedProgress, plantedRest)

var plantedSafety = []plant{
	{"S1", "a message without a run", "g 0@5 has no run that succeeded", func(t *tale) { t.change(of(ledger.Produced, ""), func(e *ledger.Event) { e.Offset = 6 }) }},
	{"S1", "a message whose only run failed", "g 0@4 has no run that succeeded", func(t *tale) { t.change(at(12_100*ms), func(e *ledger.Event) { e.Err = "failed" }) }},
	{"S2", "a commit before the end", "has 0 below its offset, which had not succeeded", func(t *tale) { t.change(at(300*ms), move(312*ms)) }},
	{"S2", "a map that says too much", "has 3 in its map, which had not succeeded", func(t *tale) {
		t.drop(at(405 * ms))
		t.stored(405*ms, 7, 1, 1, offset.Range{From: 2, To: 4})
	}},
	{"S2", "a commit that goes back", "goes back from 4 to 2", func(t *tale) { t.stored(1600*ms, 8, 2, 2) }},
	{"S2", "an answer to a commit that nobody stored", "was told that its commit of g 0 at 7 is stored", func(t *tale) {
		t.tell(12_105*ms, "B.1", ledger.Answered, func(e *ledger.Event) { e.Offset = 7 })
	}},
	{"S2", "an answer before the commit is stored", "was told that its commit of g 0 at 4 is stored", func(t *tale) {
		t.tell(1505*ms, "B.1", ledger.Answered, func(e *ledger.Event) { e.Offset = 4 })
	}},
	{"S3", "a commit of the former owner", "has take-over count 1 after 2", func(t *tale) { t.stored(1600*ms, 7, 1, 4) }},
	{"S3", "a commit of the former owner before the next one has stored any", "A.1 has stored a commit of g 0 at 3, and B.1 had begun to claim it", func(t *tale) { t.stored(1315*ms, 7, 1, 3) }},
	{"S3", "the first commit of the former owner there, after the next one has begun to claim", "A.1 has stored a commit of g 0 at 3, and B.1 had begun to claim it", func(t *tale) {
		t.drop(func(e ledger.Event) bool { return e.Kind == ledger.Stored && e.At < time.Second })
		t.stored(1315*ms, 7, 1, 3)
		other := &tale{partition: 1} // where it is known who that is
		other.tell(100*ms, "A.1", ledger.Claimed, nil)
		other.stored(101*ms, 7, 1, 0)
		other.stored(102*ms, 7, 1, 0)
		t.events = append(t.events, other.events...)
	}},
	{"S3", "a result from after a loss, committed when its member has the partition again", "g 0@1 is committed by a result that came after its partition had gone", func(t *tale) {
		t.neverStored()
		t.change(at(500*ms), move(1400*ms)) // A's run of 1
		t.drop(func(e ledger.Event) bool {
			return e.Member == "A.1" && e.At > 1050*ms && e.At != 1400*ms || e.At > 1450*ms && e.At < 12*time.Second
		})
		t.tell(1430*ms, "B.1", ledger.Released, nil)
		t.tell(1500*ms, "A.1", ledger.Claimed, nil)
		t.stored(1510*ms, 7, 3, 3)
	}},
	{"S3", "a commit that does not say whose it is", "the commit of g 0 at 4 does not say whose it is", func(t *tale) {
		t.change(at(1510*ms), func(e *ledger.Event) { e.Text = offset.State{Next: 4}.Encode(offset.MaxText) })
	}},
	{"S3", "two owners of one take-over", "take-over 2 of g 0 has two owners", func(t *tale) { t.stored(1600*ms, 9, 2, 4) }},
	{"S4", "a start of what is below the commit", "starts g 0@2, which was committed as finished before its claim", func(t *tale) { t.run("B.1", 9, 2, "x", 1350*ms, 1390*ms) }},
	{"S4", "a start of what is in the map", "starts g 0@2, which was committed as finished before its claim", func(t *tale) {
		t.neverStored()
		t.run("B.1", 8, 1, "y", 1330*ms, 1340*ms)
		t.run("B.1", 9, 2, "x", 1350*ms, 1390*ms)
	}},
	{"S4", "a start without a claim", "starts 0@3 without a claim", func(t *tale) { t.drop(of(ledger.Claimed, "B.1")) }},
	{"S8", "metadata that cannot be read", "cannot be read", func(t *tale) { t.change(at(1510*ms), func(e *ledger.Event) { e.Text = e.Text[:len(e.Text)-1] }) }},
	{"S8", "metadata of somebody else", "cannot be read", func(t *tale) { t.change(at(1510*ms), said("hello")) }},
	{"S8", "metadata beyond the limit that can be read", "bytes", func(t *tale) {
		var scattered []offset.Range
		for o := int64(6); o < 80_000; o += 1 + o*o%7 {
			scattered = append(scattered, offset.Range{From: o, To: o + 1})
			o++
		}
		long := offset.State{Stamp: offset.Stamp{Owner: 8, Count: 2}, Next: 4, Finished: scattered}.Encode(100_000)
		t.change(at(1510*ms), said(long))
	}},
}

var plantedOrder = []plant{
	{"S5", "two runs of a key at once", "starts g 0@2 while its run of 0 goes on", func(t *tale) { t.change(at(310*ms), move(250*ms)) }},
	{"S5", "two keys of a partition at once, by partition", "starts g 0@2 while its run of 1 goes on", func(t *tale) { t.order = "partition" }},
	{"S5", "a message twice at once in one process, in no order", "starts g 0@4 while its run of 4 goes on", func(t *tale) {
		t.order = "none"
		t.run("B.1", 9, 4, "x", 12_050*ms, 12_090*ms)
	}},
	{"S5", "a key out of order", "starts g 0@0 after 2 in the same claim", func(t *tale) {
		t.change(func(e ledger.Event) bool { return e.Call == 3 && e.Member == "A.1" }, func(e *ledger.Event) { move(e.At - 195*ms)(e) })
		t.change(at(115*ms), move(110*ms))
		t.change(at(205*ms), move(199*ms))
	}},
	{"S5", "a key that goes on after a failure", "starts g 0@2 before 0 has succeeded", func(t *tale) {
		t.change(at(300*ms), func(e *ledger.Event) { e.Err = "failed" })
	}},
	{"S5", "a partition that goes on after a failure, with another key and in another claim", "starts g 0@3 before 2 has succeeded", func(t *tale) {
		t.inTurn()
		t.change(at(503*ms), func(e *ledger.Event) { e.Err = "failed" })
		t.change(func(e ledger.Event) bool { return e.Member == "B.1" && e.Key != "" }, func(e *ledger.Event) { e.Key = "z" })
	}},
	{"S5", "a key that goes back", "starts g 0@3 after 4 in the same claim", func(t *tale) { t.run("B.1", 9, 3, "x", 12_200*ms, 12_300*ms) }},
	{"S6", "a repeat without a fault", "starts g 0@1, which A.1 had finished 850ms before", again},
	{"S6", "a repeat without a fault, in no order", "starts g 0@1, which A.1 had finished 850ms before", func(t *tale) {
		t.order = "none"
		again(t)
	}},
	{"S6", "a result within the grace of a stop that is not committed", "starts g 0@1, which A.1 had finished 300ms before", func(t *tale) {
		again(t)
		t.change(at(500*ms), move(1050*ms))
	}},
	{"S6", "a repeat in the same claim, whatever the fault", "starts g 0@4, which B.1 had finished 5ms before", func(t *tale) {
		t.run("B.1", 9, 4, "x", 12_105*ms, 12_109*ms)
		t.hit("cut", ledger.OfMember, "B.1", 11_000*ms, 13_000*ms)
	}},
	{"S6", "a repeat of what a fault came too late to explain", "starts g 0@1, which A.1 had finished", func(t *tale) {
		t.neverStored()
		t.run("B.1", 9, 1, "y", 3350*ms, 3390*ms)
		t.hit("cut", ledger.OfMember, "A.1", 1900*ms, 3000*ms)
	}},
	{"S6", "a repeat long after a generation that was missed", "starts g 0@1, which A.1 had finished", func(t *tale) {
		again(t)
		t.shift(50*ms, 20*time.Second)
		t.change(of(ledger.Assigned, "A.1"), generation(3))
		t.change(of(ledger.Assigned, "B.1"), generation(4))
		t.tell(10*ms, "A.1", ledger.Assigned, generation(1))
		t.tell(20*ms, "A.1", ledger.Assigned, generation(3))
	}},
	{"S6", "a repeat in a member that has missed a generation, of what another one has finished", "starts g 0@1, which A.1 had finished 850ms before", func(t *tale) {
		again(t)
		t.tell(110*ms, "B.1", ledger.Assigned, generation(1))
		t.change(at(1300*ms), generation(3))
	}},
	{"S6", "a repeat while a topic has another leader", "starts g 0@1, which A.1 had finished 850ms before", func(t *tale) {
		again(t)
		t.hit("move-leaders", ledger.OfCluster, "", 450*ms, 900*ms)
	}},
	{"G12", "two members at once for a moment, and no fault", "both run g 0@1 for 100ms, want at most 0s (planned change)", together(1450 * ms)},
	{"G12", "a message at once in two members, in no order", "both run g 0@1 for 100ms", func(t *tale) {
		t.order = "none"
		together(1450 * ms)(t)
	}},
	{"G12", "two messages of a partition at once, by partition", "both run g 0@3 for 100ms", func(t *tale) {
		t.inTurn()
		t.change(at(503*ms), move(1560*ms))
		t.drop(of(ledger.Gone, "A.1"))
	}},
	{"G12", "a member that was cut off, for longer than its lease", "for 2.05s, want at most 750ms (cut)", func(t *tale) {
		together(3400 * ms)(t)
		t.hit("cut", ledger.OfMember, "A.1", 1000*ms, 3450*ms)
	}},
	{"G12", "a member that was removed, for longer than until its next heartbeat", "for 1.35s, want at most 100ms (expel)", func(t *tale) {
		together(2700 * ms)(t)
		t.hit("expel", ledger.OfMember, "A.1", 1000*ms, 1010*ms)
	}},
}

var plantedChanges = []plant{
	{"G13", "a task that is cancelled for a newcomer", "B.1 cancels g 0@4 after 50ms, and there is no fault", func(t *tale) {
		t.tell(12_050*ms, "B.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Offset, e.Key = 2, 4, "x" })
	}},
	{"G13", "a task that is cancelled long after a generation was missed", "B.1 cancels g 0@4 after 50ms, and there is no fault", func(t *tale) {
		t.tell(1000*ms, "B.1", ledger.Assigned, generation(1))
		t.change(at(1300*ms), generation(3))
		t.tell(12_050*ms, "B.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Offset, e.Key = 2, 4, "x" })
	}},
	{"G13", "a task that is cancelled before the grace of a stop is over", "A.1 cancels g 0@1", func(t *tale) {
		t.change(at(500*ms), move(1005*ms))
		t.tell(1001*ms, "A.1", ledger.Canceled, func(e *ledger.Event) { e.Call, e.Offset, e.Key = 2, 1, "y" })
	}},
	{"G13", "a stop that leaves before the grace is over while a task runs", "A.1 cancels g 0@1", func(t *tale) {
		t.drop(at(500 * ms))
		again(t)
	}},
	{"L5", "a lost membership", "B.1 has lost its membership of g", func(t *tale) { t.tell(16*time.Second, "B.1", ledger.Session, said("membership lost")) }},
	{"L5", "a claim that fails", "the session of B.1 in g has ended (claim failed), and nothing has happened to it", func(t *tale) {
		t.tell(16*time.Second, "B.1", ledger.Session, said("claim failed"))
	}},
	{"L5", "a stop that nobody has asked for", "the session of B.1 in g ends in a stop that nobody has asked for", func(t *tale) {
		t.tell(16*time.Second, "B.1", ledger.Session, said("stop"))
	}},
	{"L5", "a member that asks again and again", "B.1 asks for more than 16 rounds of g within 30s", func(t *tale) {
		for i := range 17 {
			t.tell(13*time.Second+time.Duration(i)*600*ms, "B.1", ledger.Session, func(e *ledger.Event) { e.Text, e.Own = "rebalance", ledger.AsksAgain })
		}
	}},
	{"L5", "more generations than one newcomer explains", "a rebalance to generation 7", func(t *tale) {
		t.tell(15*time.Second, "C.1", ledger.Spawned, nil)
		for i := range int32(5) {
			t.tell(16*time.Second+time.Duration(i)*100*ms, "B.1", ledger.Assigned, generation(3+i))
		}
	}},
	{"L5", "two rounds that a member asks for at once", "B.1 asks for two rounds of g within 400ms", func(t *tale) {
		for _, at := range []time.Duration{13_000 * ms, 13_400 * ms} {
			t.tell(at, "B.1", ledger.Session, func(e *ledger.Event) { e.Text, e.Own = "rebalance", ledger.AsksAgain })
		}
	}},
	{"L5", "a rebalance for nothing", "a rebalance to generation 3, and nothing has happened in the group that explains it", func(t *tale) { t.tell(16*time.Second, "B.1", ledger.Assigned, generation(3)) }},
	{"L5", "a fatal error", "Run of B.1 in g returned an error: refused", func(t *tale) { t.change(of(ledger.Stopped, "B.1"), func(e *ledger.Event) { e.Err = "refused" }) }},
}

var plantedProgress = []plant{
	{"L1", "a claim that does not let go", "A.1 lets go of g 0 after 3.1s", func(t *tale) { t.change(at(1010*ms), func(e *ledger.Event) { e.Took = 3100 * ms }) }},
	{"L1", "a claim that its member leaves behind", "Run of B.1 in g has returned, and partition 0 was not let go", func(t *tale) { t.drop(of(ledger.Released, "B.1")) }},
	{"L1", "a claim that begins before the one before has ended", "Run of B.1 in g has returned, and partition 0 was not let go", func(t *tale) { t.tell(13*time.Second, "B.1", ledger.Claimed, nil) }},
	{"L1b", "a partition that nobody has, after a claim that was not let go", "g 0 had no claim for 16.6s", func(t *tale) {
		t.drop(of(ledger.Gone, "A.1"))
		t.tell(1005*ms, "A.1", ledger.Claimed, nil)
		t.shift(1300*ms, 16300*ms)
	}},
	{"L1b", "a partition that nobody has", "g 0 had no claim for 16.3s", func(t *tale) { t.shift(1300*ms, 16*time.Second) }},
	{"L2", "work that is left at the end", "g 0 is committed at 4 of 5", func(t *tale) {
		t.drop(at(12_110 * ms))
		t.change(of(ledger.Settled, ""), func(e *ledger.Event) { e.Kind = ledger.Unsettled })
	}},
	{"L2", "a long pause", "g had finished nothing for 30.6s", func(t *tale) { t.shift(12_000*ms, 20*time.Second) }},
	{"L2", "a long pause in which faults overlap", "of which the brokers were whole for 52.6s", func(t *tale) {
		t.shift(12_000*ms, 60*time.Second)
		t.hit("pause-node", ledger.OfCluster, "", 20*time.Second, 25*time.Second)
		t.hitAs(3, "pause-node", ledger.OfCluster, "", 21*time.Second, 26*time.Second)
	}},
	{"L2b", "a partition that stands still beside one that gets on", "g 1 had work and began nothing for", func(t *tale) { t.beside(starving) }},
	{"L3", "a late commit", "g 0@4 was committed 1.35s after its end in a stable group", func(t *tale) { t.change(at(12_110*ms), move(13_450*ms)) }},
	{"L3", "no commit", "g 0@4 has finished and is committed by nobody", func(t *tale) { t.drop(at(12_110 * ms)) }},
	{"L4", "a late stop", "B.1 took 4.1s to stop in g", stopsAt(26_100 * ms)},
	{"L4", "a late stop, for all that the network is cut", "B.1 took 8.1s to stop in g", func(t *tale) {
		stopsAt(30_100 * ms)(t)
		t.hit("cut", ledger.OfMember, "B.1", 21_000*ms, 29_000*ms)
	}},
	{"L4", "no stop", "B.1 killed, for it did not stop", func(t *tale) { t.change(of(ledger.Gone, "B.1"), said("killed, for it did not stop")) }},
	{"L4", "a process that ends without its members", "B.1 has stopped, and Run has returned in 0 of 1 groups", func(t *tale) { t.drop(of(ledger.Stopped, "B.1")) }},
	{"L4", "a crash", "A.1 ended by itself: exit status 2", func(t *tale) { t.change(of(ledger.Gone, "A.1"), said("ended by itself: exit status 2")) }},
	{"L4", "a Run that returns unasked", "Run of B.1 in g has returned, and nobody had asked for it", func(t *tale) { t.drop(of(ledger.Stopping, "B.1")) }},
	{"L4", "a member that does not take leave", "A.1 has left g, and 833.333333ms later nobody has partition 0", func(t *tale) {
		t.shift(50*ms, 10*time.Second)
		t.shift(11_300*ms, time.Second)
	}},
}

// stopsAt says when B has stopped, which was asked to at 22 s.
func stopsAt(at time.Duration) func(*tale) {
	return func(t *tale) {
		t.change(of(ledger.Stopped, "B.1"), move(at))
		t.change(of(ledger.Gone, "B.1"), move(at+100*ms))
	}
}

var plantedRest = []plant{
	{"L6", "a task at rest", "B.1 at rest: 1 running", func(t *tale) { t.change(of(ledger.Sampled, "B.1"), func(e *ledger.Event) { e.Usage.Running = 1 }) }},
	{"L6", "a message at rest", "0 paused without one, lag 1", func(t *tale) { t.change(of(ledger.Sampled, "B.1"), func(e *ledger.Event) { e.Usage.Lag = 1 }) }},
	{"L6", "a pause at rest", "1 paused without one", func(t *tale) { t.change(of(ledger.Sampled, "B.1"), func(e *ledger.Event) { e.Usage.Stuck = 1 }) }},
	{"L6", "a pause that stays for a while", "B.1 has had a claim that is paused with nothing in its backlog for 8.5s", func(t *tale) { t.paused(8500 * ms) }},
	{"L6", "a process that no longer looks at itself", "B.1 has not looked at itself since the end", func(t *tale) { t.change(of(ledger.Sampled, "B.1"), move(19*time.Second)) }},
	{"L7", "goroutines that grow, slowly and by chance", "C.1: goroutines has risen by", func(t *tale) {
		t.live(func(i int, u *ledger.Usage) { u.Goroutines = 60 + i/12 + i*i%17 })
	}},
	{"L7", "a heap that grows", "C.1: heap has risen by", rises(func(u *ledger.Usage, d float64) { u.Heap += int64(d * 3.2 * (1 << 20)) })},
	{"L7", "memory that grows", "C.1: resident memory has risen by", rises(func(u *ledger.Usage, d float64) { u.RSS += int64(d * 17 * (1 << 20)) })},
	{"L7", "descriptors that grow", "C.1: descriptors has risen by", rises(func(u *ledger.Usage, d float64) { u.Files += int(d * 12) })},
	{"L7", "a lag that grows", "C.1: lag has risen by", rises(func(u *ledger.Usage, d float64) { u.Lag += int64(d * 105) })},
}

// rises tells of an hour over which something rises by the measure that grow gives to a part of it.
func rises(grow func(u *ledger.Usage, part float64)) func(*tale) {
	return func(t *tale) {
		t.live(func(i int, u *ledger.Usage) {
			*u = ledger.Usage{Goroutines: 60, Heap: 20 << 20, RSS: 60 << 20, Files: 40, Lag: 30, Clean: u.Clean}
			grow(u, float64(i)/hourOfSamples)
		})
	}
}

// A check that cannot fail proves nothing.
func TestEachViolationIsFound(t *testing.T) {
	for _, p := range planted {
		t.Run(p.rule+"/"+p.what, func(t *testing.T) {
			history := sound()
			p.spoil(history)
			r := history.check()
			if !slices.ContainsFunc(r.Violations, func(v check.Violation) bool { return v.Rule == p.rule && strings.Contains(v.Text, p.says) }) {
				t.Errorf("want %q, found %v", p.says, r.Violations)
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
