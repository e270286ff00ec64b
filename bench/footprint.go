package main

import (
	"fmt"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

const (
	memoryTask    = 30 * time.Second
	memoryFirst   = 3 * time.Second // until the backlogs are full
	memoryEvery   = time.Second
	memorySamples = 3
	claimsSettle  = time.Second
	claimsWatch   = 2 * time.Second
)

var (
	megabytes  = unit{name: "MB"}
	goroutines = unit{name: "goroutines"}
	ofACore    = unit{name: "percent_of_a_core"}
)

// memory takes what a member holds inside tasks of 30 s, behind which a backlog lies.
func memory(l *lab) ([]figure, error) {
	g := gather("memory")
	err := l.memoryOf(g, "_backlog", fill{partitions: 12, messages: 1_000_000, keys: 1_000, turns: true, bytes: 100})
	if err == nil {
		err = l.memoryOf(g, "_large", fill{partitions: 12, messages: 12 * 50, turns: true, bytes: large})
	}
	return g.figures(), err
}

func (l *lab) memoryOf(g *gathered, suffix string, lying fill) error {
	f, err := l.filled(lying)
	if err != nil {
		return err
	}
	defer l.drop(f)
	t := &taking{lab: l, row: g.row, order: peers.ByPartition, without: []string{racingCooperative}}
	return t.each(func(s side) error {
		st := l.stage(spec{
			Peer: s.name, Settings: peers.Settings{Order: peers.ByPartition, Slots: throughputSlots, Task: memoryTask}, Sleep: memoryTask,
		}, f)
		defer st.end()
		p, _, err := st.begin()
		if err != nil {
			return err
		}
		return l.memorySamples(g, s.name, suffix, p)
	})
}

func (l *lab) memorySamples(g *gathered, side, suffix string, p *process) error {
	if err := l.sleep(memoryFirst); err != nil {
		return err
	}
	for range memorySamples {
		if err := l.sleep(memoryEvery); err != nil {
			return err
		}
		resident, err := residentMemory(p.cmd.Process.Pid) // before the collection that is asked for
		if err != nil {
			return err
		}
		held, err := p.ask()
		if err != nil {
			return err
		}
		g.add(side, suffix+"_heap", megabytes, held.heap)
		g.add(side, suffix+"_rss", megabytes, resident)
	}
	return nil
}

// claims takes what partitions cost that have one message each and then nothing more.
func claims(l *lab) ([]figure, error) {
	g := gather("claims")
	for _, n := range []int32{10, 100, 1_000} {
		f, err := l.filled(fill{partitions: n, messages: int(n), keys: 1, turns: true, bytes: 16})
		if err != nil {
			return g.figures(), err
		}
		t := &taking{lab: l, row: g.row, order: peers.ByPartition, without: []string{racingCooperative}}
		err = t.each(func(s side) error { return l.claimsOf(g, s, f) })
		l.drop(f)
		if err != nil {
			return g.figures(), err
		}
	}
	return g.figures(), nil
}

func (l *lab) claimsOf(g *gathered, s side, f *filled) error {
	st := l.stage(spec{Peer: s.name, Settings: peers.Settings{Order: peers.ByPartition, Slots: throughputSlots, Task: time.Second}}, f)
	defer st.end()
	p, ready, err := st.begin()
	if err != nil {
		return err
	}
	if err := st.until(p, func(r ledger.Runs) bool { return r.Partitions() == int(f.partitions) }); err != nil {
		return fmt.Errorf("%d of %d partitions have had a task: %w", st.runs().Partitions(), f.partitions, err)
	}
	took := st.runs().LastBegun().Sub(ready)
	if err := l.sleep(claimsSettle); err != nil {
		return err
	}
	cpu, err := l.cpuShare(p, claimsWatch)
	if err != nil {
		return err
	}
	held, err := p.ask()
	if err != nil {
		return err
	}
	resident, err := residentMemory(p.cmd.Process.Pid)
	if err != nil {
		return err
	}
	name := func(what string) string { return fmt.Sprintf("_%s_%d", what, f.partitions) }
	g.add(s.name, name("begin"), seconds, took.Seconds())
	g.add(s.name, name("cpu"), ofACore, cpu)
	g.add(s.name, name("goroutines"), goroutines, held.goroutines)
	g.add(s.name, name("rss"), megabytes, resident)
	return nil
}

// cpuShare is how much processor time the process uses, in percent of one core.
func (l *lab) cpuShare(p *process, d time.Duration) (float64, error) {
	before, err := cpuTime(p.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	from := time.Now()
	if err := l.sleep(d); err != nil {
		return 0, err
	}
	after, err := cpuTime(p.cmd.Process.Pid)
	return 100 * (after - before).Seconds() / time.Since(from).Seconds(), err
}
