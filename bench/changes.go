package main

import (
	"fmt"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

// The rows of planned and unplanned changes share a topic of 8 partitions, whose tasks take from half a second on the first to four
// seconds on the last, so that they do not end at the same time, and a backlog that does not end.
const (
	changePartitions = 8
	changeStep       = 500 * time.Millisecond
	changeTask       = 2 * time.Second // what the sides are told
	changePause      = 4 * time.Second // after a join
	leavePause       = 7 * time.Second
	crashSession     = 6 * time.Second
	crashPause       = 3 * time.Second
	crashWatch       = 12 * time.Second // after the crash
)

var (
	seconds     = unit{name: "s"}
	taskSeconds = unit{name: "task_seconds"}
	idleSeconds = unit{name: "partition_seconds"}
	startsAgain = unit{name: "starts"}
)

func changeFill() fill {
	return fill{partitions: changePartitions, messages: changePartitions * 100, keys: 10, turns: true, bytes: 16}
}

func changeSpec(s side, session time.Duration) spec {
	return spec{
		Peer:     s.name,
		Settings: peers.Settings{Order: peers.ByPartition, Slots: changePartitions, Task: changeTask, Session: session},
		Sleep:    changeStep, Step: changeStep,
	}
}

func (l *lab) changes(t *taking, one func(g *gathered, s side, f *filled) error) ([]figure, error) {
	f, err := l.filled(changeFill())
	if err != nil {
		return nil, err
	}
	g := gather(t.row)
	t.lab, t.order = l, peers.ByPartition
	err = t.each(func(s side) error { return one(g, s, f) })
	return g.figures(), err
}

// planned lets two members join one that works, and leave again in order.
func planned(l *lab) ([]figure, error) {
	return l.changes(&taking{row: "planned"}, func(g *gathered, s side, f *filled) error {
		c := &changing{stage: l.stage(changeSpec(s, 0), f), g: g, side: s.name}
		defer c.end()
		if _, _, err := c.begin(); err != nil {
			return err
		}
		from := time.Now()
		if err := c.comeAndGo(); err != nil {
			return err
		}
		runs, to := c.runs(), time.Now()
		g.add(s.name, "_stall", seconds, runs.Stall(from, to, true).Seconds())
		g.add(s.name, "_idle", idleSeconds, runs.Idle(from, to).Seconds())
		g.add(s.name, "_wasted", taskSeconds, runs.Wasted().Seconds())
		g.add(s.name, "_repeats", startsAgain, float64(runs.Repeats()))
		return nil
	})
}

// changing is a side under planned changes.
type changing struct {
	*stage
	g    *gathered
	side string
}

// arrival is a member that has joined.
type arrival struct {
	*process
	ready time.Time
}

func (c *changing) comeAndGo() error {
	var came []arrival
	for range 2 {
		if err := c.lab.sleep(changePause); err != nil {
			return err
		}
		p, ready, err := c.join()
		if err != nil {
			return err
		}
		came = append(came, arrival{p, ready})
	}
	if err := c.lab.sleep(changePause); err != nil {
		return err
	}
	for _, n := range came {
		if err := c.leave(n); err != nil {
			return err
		}
	}
	return nil
}

// leave lets a newcomer go and watches what follows. One that has had nothing by now waits for longer than that.
func (c *changing) leave(n arrival) error {
	first, ok := c.runs().First(n.member)
	if !ok {
		first = time.Now()
	}
	c.g.addUntil(c.side, "_newcomer", seconds, first.Sub(n.ready).Seconds(), ok)
	at := n.process.leave()
	if err := c.lab.sleep(leavePause); err != nil || !ok {
		return err
	}
	took, all := c.runs().Takeover(n.member, at, time.Now())
	c.g.addUntil(c.side, "_takeover", seconds, took.Seconds(), all)
	return nil
}

// pair starts two members at once and returns the second one some time after both have begun.
func (s *stage) pair() (*process, error) {
	if _, _, err := s.join(); err != nil {
		return nil, err
	}
	second, _, err := s.join()
	if err != nil {
		return nil, err
	}
	if err := s.until(second, func(r ledger.Runs) bool { return len(r.Members()) == 2 }); err != nil {
		return nil, fmt.Errorf("a task in both of two members that start at once: %w", err)
	}
	return second, s.lab.sleep(crashPause)
}

// unplanned kills one of two members.
func unplanned(l *lab) ([]figure, error) {
	return l.changes(&taking{row: "unplanned", without: []string{racingCooperative}}, func(g *gathered, s side, f *filled) error {
		c := l.stage(changeSpec(s, crashSession), f)
		defer c.end()
		victim, err := c.pair()
		if err != nil {
			return err
		}
		at := victim.kill()
		if err := l.sleep(crashWatch); err != nil {
			return err
		}
		runs, to := c.runs(), time.Now()
		took, all := runs.Takeover(victim.member, at, to)
		g.addUntil(s.name, "_takeover", seconds, took.Seconds(), all)
		g.add(s.name, "_stall", seconds, runs.Stall(at, to, true).Seconds())
		g.add(s.name, "_idle", idleSeconds, runs.Idle(at, to).Seconds())
		g.add(s.name, "_wasted", taskSeconds, runs.Since(at).Wasted().Seconds())
		g.add(s.name, "_repeats", startsAgain, float64(runs.Since(at).Repeats()))
		return nil
	})
}
