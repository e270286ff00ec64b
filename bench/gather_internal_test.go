package main

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

func TestOneFigureForEachPeer(t *testing.T) {
	g := gather("row")
	for _, v := range []float64{3, 1, 2} {
		g.add(oursName, "_x", seconds, v)
		g.add("franz_go", "_x", seconds, 2*v)
	}
	g.addUntil("watermill", "_x", seconds, 9, false)
	g.add(oursName, "_alone", perSecond, 7)
	g.add("franz_go", "_theirs", seconds, 1) // we have none
	var lines []string
	for _, f := range g.figures() {
		lines = append(lines, f.String())
	}
	want := []string{"row_x 2 s watermill_still_waiting 9 0.222", "row_x 2 s franz_go 4 0.500", "row_alone 7 tasks/s none 0 0.000"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func TestARecordHasTheRounds(t *testing.T) {
	g := gather("row")
	g.add(oursName, "_x", perSecond, 5)
	g.addUntil("franz_go", "_x", perSecond, 4, false)
	r := g.figures()[0].recorded("row")
	if r.Peer != "franz_go" || !r.PeerWaiting || r.Waiting || !r.More || !slices.Equal(r.PeerSamples, []float64{4}) || r.Ratio != 1.25 {
		t.Errorf("%+v", r)
	}
	alone := (figure{name: "x", value: 1, baseline: "none"}).recorded("row")
	if alone.Peer != "" || alone.More {
		t.Errorf("%+v", alone)
	}
}

func TestEachSideHasANameOfItsOwn(t *testing.T) {
	var names []string
	for _, s := range sides() {
		if s.name == "" || s.says == "" || !s.offers(peers.ByPartition) {
			t.Errorf("%+v", s)
		}
		names = append(names, s.name)
	}
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) || names[0] != oursName {
		t.Errorf("%q", names)
	}
}

func TestALoadLastsAsLongInEachOrder(t *testing.T) {
	for _, o := range []peers.Order{peers.ByPartition, peers.ByKey, peers.None} {
		for _, task := range []time.Duration{time.Millisecond, 20 * time.Millisecond, time.Second} {
			w := throughputLoad(o, task)
			f := &filled{ends: []int64{int64(w.messages / int(w.partitions))}}
			if ideal := w.ideal(f); ideal != throughputTime {
				t.Errorf("%s, %v: %v", o, task, ideal)
			}
		}
	}
}

func TestTheLagOfACommitIsThatOfTheFirstOneBeyond(t *testing.T) {
	at := func(millis int) time.Time { return time.UnixMilli(int64(millis)) }
	runs := ledger.Runs{
		{Offset: 0, End: at(10), How: ledger.Done},
		{Offset: 1, End: at(20), How: ledger.Done},
		{Offset: 2, End: at(30), How: ledger.Done},
		{Offset: 2, End: at(31), How: ledger.Killed},
	}
	late := lagOf(runs, []commitSeen{{next: 1, at: at(12)}, {next: 2, at: at(50)}})
	if want := (latencies{2 * time.Millisecond, 30 * time.Millisecond}); !slices.Equal(late, want) {
		t.Errorf("%v, want %v", late, want)
	}
}

func TestWhatTheSystemSays(t *testing.T) {
	if d, err := parseCPUTime("2000000000 1348943825 3243\n"); err != nil || d != 2*time.Second {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := parseCPUTime("nothing"); err == nil {
		t.Error("no error")
	}
	text := "Name:\tx\nVmRSS:\t   2048 kB\n"
	if n, err := fieldOf(text, "VmRSS:"); err != nil || n != 2048 {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := fieldOf(text, "VmHWM:"); err == nil {
		t.Error("no error")
	}
	if got := valueOf("a\t: 1\nmodel name\t: A CPU\n", "model name", ":"); got != "A CPU" {
		t.Errorf("%q", got)
	}
	if got := quoted([]string{"-run", "^a|b$", "-x"}); got != "-run '^a|b$' -x" {
		t.Errorf("%q", got)
	}
}
