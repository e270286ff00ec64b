package main

import (
	"time"

	"github.com/evenkeel-go/evenkeel/bench/peers"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const (
	trafficTask   = 20 * time.Millisecond
	trafficSettle = 2 * time.Second
	trafficWatch  = 4 * time.Second

	offsetCommit = 8 // the API key
)

var requestsPerSecond = unit{name: "requests/s"}

// traffic counts the requests of a member with short tasks, on a way to the broker of its own.
func traffic(l *lab) ([]figure, error) {
	const partitions = 10
	node, err := l.kafka()
	if err != nil {
		return nil, err
	}
	n := partitions * int((trafficSettle+2*trafficWatch)/trafficTask)
	f, err := l.filled(fill{partitions: partitions, messages: n, keys: 10, turns: true, bytes: 16})
	if err != nil {
		return nil, err
	}
	g := gather("traffic")
	t := &taking{lab: l, row: g.row, order: peers.ByPartition, without: []string{racingCooperative}}
	err = t.each(func(s side) error {
		st := l.stage(spec{
			Peer: s.name, Settings: peers.Settings{Order: peers.ByPartition, Slots: partitions, Task: trafficTask}, Sleep: trafficTask,
		}, f)
		defer st.end()
		return st.countRequests(g, s.name, node.Link(countedLink))
	})
	return g.figures(), err
}

func (s *stage) countRequests(g *gathered, side string, way *kafkatest.Link) error {
	s.spec.Brokers = way.Addrs()
	if _, _, err := s.begin(); err != nil {
		return err
	}
	if err := s.lab.sleep(trafficSettle); err != nil {
		return err
	}
	from, before := time.Now(), requestsOf(way)
	if err := s.lab.sleep(trafficWatch); err != nil {
		return err
	}
	after, took := requestsOf(way), time.Since(from).Seconds()
	g.add(side, "_commits", requestsPerSecond, float64(after.commits-before.commits)/took)
	g.add(side, "_all", requestsPerSecond, float64(after.all-before.all)/took)
	return nil
}

// requests are those that have passed so far.
type requests struct{ commits, all int }

func requestsOf(way *kafkatest.Link) (r requests) {
	for _, c := range way.Conns() {
		for i, key := range c.Keys {
			r.all += c.Counts[i]
			if key == offsetCommit {
				r.commits += c.Counts[i]
			}
		}
	}
	return r
}
