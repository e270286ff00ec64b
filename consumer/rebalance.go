package consumer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/span"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// assigned hears each assignment, on sarama's rebalance path: before anything is revoked, and before a new session's Setup. by names the
// strategy that made it, "" where nobody has told.
func (m *membership) assigned(by string, a strategy.Assignment, generation int32) {
	if s := m.liveSession(); s != nil {
		s.hears(generation)
	}
	if t := m.currentTenure(); t != nil {
		t.assigned(generation)
	}
	m.followUp.assigned()
	now := sorted(a)
	before := m.watched.assigned(now, generation)
	s := m.tasks.Status()
	r := Rebalance{
		Generation: generation, Strategy: by, Gained: minus(now, before), Lost: minus(before, now), Assigned: now,
		Holding: s.Holding, WastedSeconds: s.WastedSeconds - m.wasted,
	}
	m.wasted = s.WastedSeconds
	m.log.LogAttrs(context.Background(), slog.LevelInfo, "rebalance", r.attrs()...)
	m.hooks.rebalanced(r)
}

// attrs is what the log says: by which strategy, what has moved, what is held back by which task, and what was thrown away.
func (r Rebalance) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.Int("generation", int(r.Generation)), slog.String("strategy", cmp.Or(r.Strategy, "unknown")), slog.String("gained", r.Gained.String()), slog.String("lost", r.Lost.String()),
		slog.Int("partitions", r.Assigned.count()),
	}
	if len(r.Holding) > 0 {
		attrs = append(attrs, slog.String("waiting_for", waitingFor(r.Holding)))
	}
	if r.WastedSeconds > 0 {
		attrs = append(attrs, slog.Float64("wasted_task_seconds", math.Round(10*r.WastedSeconds)/10))
	}
	return attrs
}

// waitingFor lists tasks as topic/partition@offset (age).
func waitingFor(list []handler.Holding) string {
	texts := make([]string, len(list))
	for i, h := range list {
		texts[i] = fmt.Sprintf("%s/%d@%d (%s)", h.Topic, h.Partition, h.Task.Offset, span.Text(h.Task.Age.Round(time.Second)))
	}
	return strings.Join(texts, " ")
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
