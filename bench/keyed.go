package main

import (
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// The topics of the rows: 10 partitions, short values.
func thousandKeys(messages int) fill {
	return fill{partitions: 10, messages: messages, keys: 1_000, bytes: 16}
}

func manyKeys(messages int) fill {
	return fill{partitions: 10, messages: messages, keys: 10_000, bytes: 16}
}

// sleeps is the load of the rows with tasks of 20 ms.
func sleeps(o handler.Order) load {
	return load{fill: thousandKeys(10_000), order: o, slots: 100, task: 20 * time.Millisecond, tasks: 10_000}
}

func key20ms(l *lab) ([]figure, error)  { return l.busyRow("key_20ms", sleeps(handler.ByKey), 5) }
func none20ms(l *lab) ([]figure, error) { return l.busyRow("none_20ms", sleeps(handler.None), 5) }

func key1ms(l *lab) ([]figure, error) {
	w := load{fill: thousandKeys(100_000), order: handler.ByKey, slots: 100, task: time.Millisecond, tasks: 100_000}
	return l.busyRow("key_1ms", w, 5)
}

func key1msDeep(l *lab) ([]figure, error) {
	w := load{fill: thousandKeys(3_000_000), order: handler.ByKey, slots: 100, task: time.Millisecond, tasks: 100_000}
	return l.busyRow("key_1ms_deep", w, 3)
}

// busyRow has three lines: how busy the slots are, how near to the ideal that comes, and the time against the ceiling.
func (l *lab) busyRow(name string, w load, rounds int) ([]figure, error) {
	t, err := l.turns(w, rounds)
	if err != nil {
		return nil, err
	}
	return []figure{t.busy(name), t.share(name + "_ideal"), t.wall(name + "_wall")}, nil
}

func key100ms(l *lab) ([]figure, error) {
	w := load{fill: manyKeys(10_000), order: handler.ByKey, slots: 1_000, task: 100 * time.Millisecond, tasks: 10_000}
	t, err := l.turns(w, 5)
	if err != nil {
		return nil, err
	}
	return []figure{t.share("key_100ms"), t.busy("key_100ms_busy"), t.wall("key_100ms_wall")}, nil
}

// partition20ms gives the Parallel Consumer as long as the ideal and a second. Its share is that of what it has done by then.
func partition20ms(l *lab) ([]figure, error) {
	w := sleeps(handler.ByPartition)
	f, err := l.filled(w.fill)
	if err != nil {
		return nil, err
	}
	w.limit = w.ideal(f) + time.Second
	ceiling := make(chan outcome, 1)
	go func() { ceiling <- bare(int(f.largest()), 1, w.task) }() // ends with the sleeps
	t, err := l.turns(w, 3)
	if err != nil {
		return nil, err
	}
	t.top = []outcome{<-ceiling}
	return []figure{t.share("partition_20ms"), t.wall("partition_20ms_wall")}, nil
}
