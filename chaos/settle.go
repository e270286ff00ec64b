package main

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/chaos/member"
)

// patience is how long the members may take to finish what is left, once nothing is broken any more.
const patience = 4 * time.Minute

// settle lets the run come to rest: nothing more is sent, what is left is finished, the members stop in order.
func (l *lab) settle(ctx context.Context) error {
	sent := l.feed.Stop()
	say("no more faults; %d messages were sent, and what is left of them is finished", sent)
	ends, err := l.ends()
	if err != nil {
		return err
	}
	done := l.finished(ctx, ends)
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	l.produced(ends)
	if done {
		l.book.Add(ledger.Event{Kind: ledger.Settled})
		wait(ctx, 3*time.Second) // for the members to look at themselves at rest
	} else {
		say("not all messages are committed after %v", patience)
		l.book.Add(ledger.Event{Kind: ledger.Unsettled})
	}
	say("the members stop")
	for _, s := range l.fleet.Slots {
		if err := s.BeginStop(); err != nil {
			return err
		}
	}
	for _, s := range l.fleet.Slots {
		if err := s.AwaitStop(member.StopGrace + 26*time.Second); err != nil {
			return err
		}
	}
	catch, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return l.commits.CatchUp(catch)
}

type place struct {
	group     string
	partition int32
}

// ends is where the log of each partition ends.
func (l *lab) ends() (map[place]int64, error) {
	ends, events := map[place]int64{}, l.book.Events()
	for _, g := range l.book.Header.Groups {
		for p := range g.PartitionsAfter(events) {
			end, err := l.cluster.EndOffset(g.Name, p)
			if err != nil {
				return nil, fmt.Errorf("%s %d: %w", g.Name, p, err)
			}
			ends[place{g.Name, p}] = end
		}
	}
	return ends, nil
}

// produced says it in the book.
func (l *lab) produced(ends map[place]int64) {
	for at, end := range ends {
		l.book.Add(ledger.Event{Kind: ledger.Produced, Group: at.group, Partition: at.partition, Offset: end})
	}
}

// finished waits until all partitions are committed to their end.
func (l *lab) finished(ctx context.Context, ends map[place]int64) bool {
	for limit := time.Now().Add(patience); time.Now().Before(limit) && ctx.Err() == nil; wait(ctx, 500*time.Millisecond) {
		committed := map[place]int64{}
		for _, e := range l.book.Events() {
			if e.Kind == ledger.Stored {
				committed[place{e.Group, e.Partition}] = e.Offset
			}
		}
		if all(ends, committed) {
			return true
		}
	}
	return false
}

func all(ends, committed map[place]int64) bool {
	for at, end := range ends {
		if end > 0 && committed[at] < end {
			return false
		}
	}
	return true
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
