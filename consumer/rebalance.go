package consumer

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// assigned hears each assignment, on sarama's rebalance path: before anything is revoked, and before a new session's Setup.
func (m *membership) assigned(a strategy.Assignment, generation int32) {
	if s := m.liveSession(); s != nil {
		s.heard.Store(generation)
	}
	if t := m.currentTenure(); t != nil {
		t.assigned(generation)
	}
	now := sorted(a)
	before := m.watched.assigned(now, generation)
	r := Rebalance{Generation: generation, Gained: minus(now, before), Lost: minus(before, now), Assigned: now}
	m.log.LogAttrs(context.Background(), slog.LevelInfo, "rebalance", slog.Int("generation", int(generation)),
		slog.String("gained", r.Gained.String()), slog.String("lost", r.Lost.String()), slog.Int("partitions", now.count()))
	m.hooks.rebalanced(r)
}

// String lists the partitions as topic[0 1 2], topics in order; "none" for an empty set.
func (p Partitions) String() string {
	topics := make([]string, 0, len(p))
	for t, list := range p {
		if len(list) > 0 {
			topics = append(topics, fmt.Sprintf("%s%v", t, list))
		}
	}
	if len(topics) == 0 {
		return "none"
	}
	slices.Sort(topics)
	return strings.Join(topics, " ")
}

// clone is for those who may keep or change what they are told.
func (p Partitions) clone() Partitions {
	if p == nil {
		return nil
	}
	return sorted(p)
}

func (p Partitions) count() (n int) {
	for _, list := range p {
		n += len(list)
	}
	return n
}

func sorted(a map[string][]int32) Partitions {
	p := make(Partitions, len(a))
	for t, list := range a {
		if len(list) > 0 {
			p[t] = slices.Sorted(slices.Values(list))
		}
	}
	return p
}

// minus returns what is in p and not in q.
func minus(p, q Partitions) Partitions {
	rest := Partitions{}
	for t, list := range p {
		for _, one := range list {
			if !slices.Contains(q[t], one) {
				rest[t] = append(rest[t], one)
			}
		}
	}
	return rest
}
