package main

import (
	"time"

	"github.com/evenkeel-go/evenkeel/bench/peers"
)

const (
	wasteFirst = 2 * time.Second // tasks of the first partition
	wasteStep  = 4 * time.Second // how much more on each next one: 30 s on the last
	wastePause = 8 * time.Second
	wasteTask  = 10 * time.Second // what the sides are told,
	wasteMost  = 30 * time.Second // and of the longest
	wasteGrace = time.Minute
)

// joins are the planned changes: a member joins, or the one that has been there for longest of those that have joined leaves.
var joins = []bool{true, true, false, true, false, false, true, true, false, false}

func wasteSpec(s side) spec {
	return spec{
		Peer:     s.name,
		Settings: peers.Settings{Order: peers.ByPartition, Slots: changePartitions, Task: wasteTask, Longest: wasteMost, Grace: wasteGrace},
		Sleep:    wasteFirst, Step: wasteStep,
	}
}

// wastePlanned lets members join one that works, and leave in order, each in the middle of long tasks.
func wastePlanned(l *lab) ([]figure, error) {
	f, err := l.filled(changeFill())
	if err != nil {
		return nil, err
	}
	g := gather("waste_planned")
	t := &taking{row: "waste_planned", lab: l, order: peers.ByPartition}
	err = t.each(func(s side) error { return wasteOf(l, g, s, f) })
	return g.figures(), err
}

func wasteOf(l *lab, g *gathered, s side, f *filled) error {
	c := &changing{stage: l.stage(wasteSpec(s), f), g: g, side: s.name}
	defer c.end()
	if _, _, err := c.begin(); err != nil {
		return err
	}
	from := time.Now()
	if err := c.change(); err != nil {
		return err
	}
	runs, to := c.runs(), time.Now()
	g.add(s.name, "", taskSeconds, runs.Wasted().Seconds())
	g.add(s.name, "_repeats", startsAgain, float64(runs.Repeats()))
	g.add(s.name, "_idle", idleSeconds, runs.Idle(from, to).Seconds())
	return nil
}

// change makes the changes, each a while after the one before, and waits for as long as a task takes that was started before the last one.
func (c *changing) change() error {
	var there []*process
	for _, join := range joins {
		if err := c.lab.sleep(wastePause); err != nil {
			return err
		}
		if !join {
			there[0].leave()
			there = there[1:]
			continue
		}
		p, _, err := c.join()
		if err != nil {
			return err
		}
		there = append(there, p)
	}
	return c.lab.sleep(wasteMost + wastePause)
}
