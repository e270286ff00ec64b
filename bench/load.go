package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// load is so many tasks that sleep, out of a topic that was filled before.
type load struct {
	fill
	order handler.Order
	slots int
	task  time.Duration
	tasks int           // the measurement ends with that many
	limit time.Duration // or after that long; 0: it is not cut short
}

// outcome is one round.
type outcome struct {
	done int
	wall time.Duration // from the first task's start to the last one's end
	busy time.Duration // sum of the tasks' measured times
}

// busyShare is how much of the time the slots had a task: 1 is always.
func (o outcome) busyShare(slots int) float64 {
	return o.busy.Seconds() / (o.wall.Seconds() * float64(slots))
}

// ofIdeal is how near the round came to the ideal for all tasks, or for the part of them that it did: 1 is there.
func (o outcome) ofIdeal(ideal time.Duration, tasks int) float64 {
	return ideal.Seconds() * float64(o.done) / float64(tasks) / o.wall.Seconds()
}

// rate is in tasks a second.
func (o outcome) rate() float64 { return float64(o.done) / o.wall.Seconds() }

// ideal is the shortest time: all slots busy all the time, or the fullest partition one after another.
func (w load) ideal(f *filled) time.Duration {
	if w.order == handler.ByPartition {
		return time.Duration(f.largest()) * w.task
	}
	return w.task * time.Duration(w.tasks) / time.Duration(w.slots)
}

// stopwatch measures a round. What has started and not ended when the last task ends is busy until then.
type stopwatch struct {
	want int
	base time.Time
	done chan outcome // one, at the end

	mu             sync.Mutex
	started, ended int
	first          time.Duration
	starts, ends   time.Duration // sums
}

func newStopwatch(want int) *stopwatch {
	return &stopwatch{want: want, base: time.Now(), done: make(chan outcome, 1)}
}

func (s *stopwatch) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.base)
	if s.started == 0 {
		s.first = now
	}
	s.started++
	s.starts += now
}

func (s *stopwatch) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.base)
	s.ended++
	s.ends += now
	if s.ended == s.want {
		s.done <- s.outcomeLocked(now)
	}
}

func (s *stopwatch) outcomeLocked(now time.Duration) outcome {
	return outcome{done: s.ended, wall: now - s.first, busy: s.ends + time.Duration(s.started-s.ended)*now - s.starts}
}

// now is the outcome so far.
func (s *stopwatch) now() outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outcomeLocked(time.Since(s.base))
}

func (s *stopwatch) sleep(d time.Duration) {
	s.start()
	time.Sleep(d)
	s.end()
}

// own runs the load with this library.
func (l *lab) own(w load) (outcome, error) {
	f, err := l.filled(w.fill)
	if err != nil {
		return outcome{}, err
	}
	s := newStopwatch(w.tasks)
	m, err := l.ordered(f, consumer.Config{Order: w.order, Slots: w.slots}, w.task, func(context.Context, *handler.Task) error {
		s.sleep(w.task)
		return nil
	})
	if err != nil {
		return outcome{}, err
	}
	o, err := receive(l, s.done)
	m.stop()
	return o, errors.Join(err, m.err)
}

// ordered starts a member in a group of its own.
func (l *lab) ordered(f *filled, c consumer.Config, expected time.Duration, h handler.Func) (*member, error) {
	plan, err := config.For(max(expected, time.Millisecond))
	if err != nil {
		return nil, err
	}
	if c.Sarama == nil {
		c.Sarama = f.broker.Config()
	}
	c.Brokers, c.Topics, c.Group, c.Plan = f.broker.Addrs(), []string{f.name}, l.name("own"), plan
	c.Logger = slog.New(slog.DiscardHandler)
	return l.run(c, h)
}

// bare is the ceiling: the same sleeps in as many goroutines that do nothing else.
func bare(tasks, slots int, d time.Duration) outcome {
	s := newStopwatch(tasks)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range slots {
		wg.Go(func() { // ends with the tasks
			for taken.Add(1) <= int64(tasks) {
				s.sleep(d)
			}
		})
	}
	wg.Wait()
	return <-s.done
}

// turns are the rounds of a load: ours, the Parallel Consumer's and the bare goroutines', one after another.
type turns struct {
	w              load
	ideal          time.Duration
	own, peer, top []outcome
}

func (l *lab) turns(w load, rounds int) (*turns, error) {
	f, err := l.filled(w.fill)
	if err != nil {
		return nil, err
	}
	t := &turns{w: w, ideal: w.ideal(f)}
	for range l.roundsOr(rounds) {
		if err := t.round(l, f); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (t *turns) round(l *lab, f *filled) error {
	own, err := l.own(t.w)
	if err != nil {
		return fmt.Errorf("run ours: %w", err)
	}
	peer, measured, err := l.peer(t.w, f)
	if err != nil {
		return fmt.Errorf("run the Parallel Consumer: %w", err)
	}
	if measured {
		t.peer = append(t.peer, peer)
	}
	t.own = append(t.own, own)
	if t.w.order != handler.ByPartition {
		t.top = append(t.top, bare(t.w.tasks, t.w.slots, t.w.task))
	}
	return nil
}

// against is a figure with the Parallel Consumer as its baseline, if there is one. Values and ratio are medians of the rounds'.
func (t *turns) against(name, unit string, of func(outcome) float64) figure {
	return versus(figure{name: name, unit: unit, baseline: "parallel_consumer"}, valuesOf(t.own, of), valuesOf(t.peer, of))
}

func (t *turns) busy(name string) figure {
	return t.against(name, "of_slots", func(o outcome) float64 { return o.busyShare(t.w.slots) })
}

func (t *turns) share(name string) figure {
	return t.against(name, "of_ideal", func(o outcome) float64 { return o.ofIdeal(t.ideal, t.w.tasks) })
}

func (t *turns) wall(name string) figure {
	seconds := func(o outcome) float64 { return o.wall.Seconds() }
	return versus(figure{name: name, unit: "s", baseline: "bare_goroutines"}, valuesOf(t.own, seconds), valuesOf(t.top, seconds))
}

func valuesOf(list []outcome, of func(outcome) float64) []float64 {
	values := make([]float64, len(list))
	for i, o := range list {
		values[i] = of(o)
	}
	return values
}
