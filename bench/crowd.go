package main

import (
	"fmt"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/peers"
)

const (
	crowdPartitions = 100
	crowdTask       = 200 * time.Millisecond
	crowdSettle     = 3 * time.Second // and a tenth of a second for each member
	crowdWatch      = 7 * time.Second
)

// crowd lets one member more join a group of 1, 10 and 50.
func crowd(l *lab) ([]figure, error) {
	f, err := l.filled(fill{partitions: crowdPartitions, messages: crowdPartitions * 200, keys: 10, turns: true, bytes: 16})
	if err != nil {
		return nil, err
	}
	g := gather("members")
	for _, n := range []int{1, 10, 50} {
		t := &taking{lab: l, row: g.row, order: peers.ByPartition, without: []string{racingName, racingCooperative, "watermill"}}
		if err := t.each(func(s side) error { return l.crowdOf(g, s, n, f) }); err != nil {
			return g.figures(), err
		}
	}
	return g.figures(), nil
}

func (l *lab) crowdOf(g *gathered, s side, n int, f *filled) error {
	if s.name == parallelConsumerName && n > 10 {
		l.absent(g.row, s.name, fmt.Sprintf("not run with %d members: their threads would fill this machine", n))
		return nil
	}
	sp := spec{Peer: s.name, Settings: peers.Settings{Order: peers.ByPartition, Slots: crowdPartitions, Task: crowdTask}, Sleep: crowdTask}
	st := l.stage(sp, f)
	defer st.end()
	st.spec.Members = n
	if _, _, err := st.begin(); err != nil {
		return err
	}
	if err := l.sleep(crowdSettle + time.Duration(n)*100*time.Millisecond); err != nil {
		return err
	}
	st.spec.Members = 1
	p, ready, err := st.join()
	if err != nil {
		return err
	}
	if err := l.sleep(crowdWatch); err != nil {
		return err
	}
	runs, to := st.runs(), time.Now()
	first, ok := runs.First(p.member)
	if !ok {
		first = to
	}
	g.addUntil(s.name, fmt.Sprintf("_newcomer_%d", n), seconds, first.Sub(ready).Seconds(), ok)
	g.add(s.name, fmt.Sprintf("_stall_%d", n), seconds, runs.Stall(ready, to, false).Seconds())
	g.add(s.name, fmt.Sprintf("_idle_%d", n), idleSeconds, runs.Idle(ready, to).Seconds())
	return nil
}
