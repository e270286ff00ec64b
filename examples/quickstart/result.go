package main

import (
	"fmt"
	"time"
)

// result is the last line. The package comment says what each number means.
type result struct {
	messages, handled, lost, started, rebalances int
	longestStall                                 time.Duration
}

// String is of a form that a script can read.
func (r result) String() string {
	return fmt.Sprintf("messages=%d handled=%d lost=%d started=%d rebalances=%d longest_stall=%v",
		r.messages, r.handled, r.lost, r.started, r.rebalances, r.longestStall.Round(precision))
}

// result counts, when no member runs any more. committed asks the broker what the group has committed of a partition.
func (l *ledger) result(committed func(partition int32) (int64, error)) (result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := result{started: l.started, rebalances: max(0, len(l.generations)-1)}
	now := time.Now()
	for p := range l.partitions {
		a := &l.partitions[p]
		stored, err := committed(int32(p))
		if err != nil {
			return r, err
		}
		a.endStall(now)
		r = r.with(a, stored)
	}
	return r, nil
}

// with adds a partition.
func (r result) with(a *account, committed int64) result {
	r.messages += len(a.handled)
	r.longestStall = max(r.longestStall, a.stall)
	for offset, handled := range a.handled {
		if handled {
			r.handled++
		}
		if !handled || int64(offset) >= committed {
			r.lost++
		}
	}
	return r
}
