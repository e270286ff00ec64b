package main

import (
	"fmt"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

const (
	throughputSlots = 100
	throughputNoops = 2_000_000 // far more than a member has fetched before it begins
	throughputTime  = 2 * time.Second
	throughputLimit = 3 * time.Second // beyond twice the ideal time, then what has been done by then counts
)

var perSecond = unit{"tasks/s", true}

// throughputLoad has as many tasks as keep the partitions, or the slots, busy for a while.
func throughputLoad(o peers.Order, task time.Duration) load {
	const partitions = 10
	lanes := throughputSlots
	if o == peers.ByPartition {
		lanes = partitions
	}
	n := throughputNoops
	if task > 0 {
		n = lanes * int(throughputTime/task)
	}
	f := fill{partitions: partitions, messages: n, keys: min(n/partitions, 1_000), turns: true, bytes: 16}
	return load{fill: f, order: orderOf(o), slots: throughputSlots, task: task, tasks: n}
}

// throughput lets all sides that offer the order work through the same topics.
func throughput(o peers.Order) func(l *lab) ([]figure, error) {
	return func(l *lab) ([]figure, error) {
		g := gather("throughput_" + string(o))
		for _, task := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, time.Second} {
			if err := l.throughputOf(g, o, task); err != nil {
				return g.figures(), err
			}
		}
		return g.figures(), nil
	}
}

func (l *lab) throughputOf(g *gathered, o peers.Order, task time.Duration) error {
	w := throughputLoad(o, task)
	f, err := l.filled(w.fill)
	if err != nil {
		return err
	}
	w.limit = 2*w.ideal(f) + throughputLimit
	t := &taking{lab: l, row: g.row, order: o, without: []string{racingCooperative}} // as fast as the other one
	return t.each(func(s side) error {
		done, err := l.sideOutcome(s, w, o, f)
		if err == nil {
			g.add(s.name, fmt.Sprintf("_%dms", task.Milliseconds()), perSecond, done.rate())
		}
		return err
	})
}

// sideOutcome runs a load with one side in a process of its own.
func (l *lab) sideOutcome(s side, w load, o peers.Order, f *filled) (outcome, error) {
	if s.name == parallelConsumerName {
		done, measured, err := l.peer(w, f)
		if err == nil && !measured {
			err = errNoJava
		}
		return done, err
	}
	stage := l.stage(spec{
		Peer: s.name, Settings: peers.Settings{Order: o, Slots: w.slots, Task: w.task},
		Sleep: w.task, Tasks: w.tasks, Ends: f.ends, Limit: w.limit,
	}, f)
	p, err := l.spawn(stage.spec, 0, &ledger.Ledger{})
	if err != nil {
		return outcome{}, err
	}
	defer p.kill()
	return awaitOf(p, p.outcomes)
}
