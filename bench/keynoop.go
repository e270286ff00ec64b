package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// tally counts the messages of all partitions, one cache line each, from the first one to the last.
type tally struct {
	ends []int64
	base time.Time
	left atomic.Int32 // partitions
	done chan outcome // one, at the end
	seen []padded
	from []atomic.Int64 // the time of the first message of each partition
}

func newTally(ends []int64) *tally {
	t := &tally{ends: ends, base: time.Now(), done: make(chan outcome, 1), seen: make([]padded, len(ends)), from: make([]atomic.Int64, len(ends))}
	for _, end := range ends {
		t.left.Add(int32(min(end, 1)))
	}
	return t
}

func (t *tally) add(partition int32) {
	n := atomic.AddInt64(&t.seen[partition].n, 1)
	if n == 1 {
		t.from[partition].Store(int64(time.Since(t.base)))
	}
	if n == t.ends[partition] && t.left.Add(-1) == 0 {
		t.done <- t.outcome(time.Since(t.base))
	}
}

func (t *tally) outcome(now time.Duration) (o outcome) {
	first := now
	for p, end := range t.ends {
		if o.done += int(end); end > 0 {
			first = min(first, time.Duration(t.from[p].Load()))
		}
	}
	o.wall = now - first
	return o
}

// now is the outcome so far.
func (t *tally) now() (o outcome) {
	now := time.Since(t.base)
	first := now
	for p := range t.seen {
		if n := atomic.LoadInt64(&t.seen[p].n); n > 0 {
			o.done += int(n)
			first = min(first, time.Duration(t.from[p].Load()))
		}
	}
	o.wall = now - first
	return o
}

func keyNoop(l *lab) (list []figure, err error) {
	for _, n := range []int{200_000, 1_000_000} {
		f, err := keyNoopOf(l, n)
		if err != nil {
			return list, err
		}
		list = append(list, f)
	}
	return list, nil
}

func keyNoopOf(l *lab, n int) (figure, error) {
	t := &turns{w: load{fill: manyKeys(n), order: handler.ByKey, slots: 100, tasks: n}}
	f, err := l.filled(t.w.fill)
	if err != nil {
		return figure{}, err
	}
	for range l.roundsOr(3) {
		own, err := l.ownNoop(f)
		if err != nil {
			return figure{}, err
		}
		peer, measured, err := l.peer(t.w, f)
		if err != nil {
			return figure{}, fmt.Errorf("run the Parallel Consumer: %w", err)
		}
		if t.own = append(t.own, own); measured {
			t.peer = append(t.peer, peer)
		}
	}
	return t.against(fmt.Sprintf("key_noop_%d", n), "messages/s", outcome.rate), nil
}

func (l *lab) ownNoop(f *filled) (outcome, error) {
	t := newTally(f.ends)
	m, err := l.ordered(f, consumer.Config{Order: handler.ByKey, Slots: 100}, 0, func(_ context.Context, task *handler.Task) error {
		t.add(task.Partition)
		return nil
	})
	if err != nil {
		return outcome{}, err
	}
	o, err := receive(l, t.done)
	m.stop()
	return o, errors.Join(err, m.err)
}

// keyNoopRaw has the loop that everybody writes as its baseline, under the same settings.
func keyNoopRaw(l *lab) ([]figure, error) {
	f, err := l.filled(manyKeys(5_000_000))
	if err != nil {
		return nil, err
	}
	var own, raw []float64
	for range l.roundsOr(6) {
		r, err := l.rawNoop(f)
		if err != nil {
			return nil, err
		}
		o, err := l.ownNoop(f)
		if err != nil {
			return nil, err
		}
		own, raw = append(own, o.rate()), append(raw, r.rate())
	}
	return []figure{versus(figure{name: "key_noop_raw", unit: "messages/s", baseline: "marking_loop"}, own, raw)}, nil
}

func (l *lab) rawNoop(f *filled) (outcome, error) {
	plan, err := config.For(time.Millisecond)
	if err != nil {
		return outcome{}, err
	}
	conf, err := plan.Apply(f.broker.Config())
	if err != nil {
		return outcome{}, err
	}
	t := newTally(f.ends)
	p, err := l.plainIn(f.broker, l.name("raw"), f.name, conf, marking{t.add})
	if err != nil {
		return outcome{}, err
	}
	o, err := receive(l, t.done)
	p.stop()
	return o, err
}

// marking is the loop that everybody writes.
type marking struct{ add func(partition int32) }

func (marking) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (marking) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m marking) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for msg := range c.Messages() {
		m.add(msg.Partition)
		s.MarkMessage(msg, "")
	}
	return nil
}
