package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// oneOf makes a ledger for one partition with some messages.
func oneOf(messages int) *ledger { return newLedger(work{make([]time.Duration, messages)}) }

// handle lets a task take a second.
func handle(l *ledger, offset int64, err error) {
	t := task{member: "A", offset: offset}
	l.start(0, t)
	time.Sleep(time.Second)
	l.end(0, t, err)
}

func counted(t *testing.T, l *ledger, committed int64) result {
	t.Helper()
	r, err := l.result(func(int32) (int64, error) { return committed, nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLostAreMessagesNotHandledOrNotCommitted(t *testing.T) {
	for name, c := range map[string]struct {
		handled   []int64
		committed int64
		lost      int
	}{
		"nothing":                    {[]int64{0, 1, 2}, 3, 0},
		"not committed at the end":   {[]int64{0, 1, 2}, 2, 1},
		"nothing committed":          {[]int64{0, 1, 2}, -1, 3},
		"committed and not handled":  {[]int64{0, 2}, 3, 1},
		"neither of two, and beyond": {[]int64{0, 2}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := oneOf(3)
				for _, offset := range c.handled {
					handle(l, offset, nil)
				}
				if got := counted(t, l, c.committed).lost; got != c.lost {
					t.Errorf("lost %d, want %d", got, c.lost)
				}
			})
		})
	}
}

func TestAMessageIsHandledOnceHoweverOftenItIsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := oneOf(1)
		handle(l, 0, errors.New("cancelled"))
		handle(l, 0, nil)
		handle(l, 0, nil)
		if r := counted(t, l, 1); r.handled != 1 || r.started != 3 {
			t.Errorf("handled=%d started=%d, want 1 and 3", r.handled, r.started)
		}
	})
}

func TestAStallEndsWithTheNextTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := oneOf(2)
		time.Sleep(time.Hour) // no member yet
		l.rebalance("A", consumer.Rebalance{Generation: 1})
		time.Sleep(2 * time.Second)
		handle(l, 0, nil)
		time.Sleep(3 * time.Second)
		handle(l, 1, nil)
		time.Sleep(time.Hour) // no message left
		if r := counted(t, l, 2); r.longestStall != 3*time.Second || r.rebalances != 0 {
			t.Errorf("longest stall %v after %d rebalances, want 3s and 0", r.longestStall, r.rebalances)
		}
	})
}

func TestAStallThatGoesOnCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := oneOf(2)
		l.rebalance("A", consumer.Rebalance{Generation: 4})
		l.rebalance("B", consumer.Rebalance{Generation: 4})
		l.rebalance("B", consumer.Rebalance{Generation: 5})
		handle(l, 0, nil)
		time.Sleep(7 * time.Second)
		if r := counted(t, l, 1); r.longestStall != 7*time.Second || r.rebalances != 1 {
			t.Errorf("longest stall %v after %d rebalances, want 7s and 1", r.longestStall, r.rebalances)
		}
	})
}

func TestLostMessagesAreAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := oneOf(1)
		handle(l, 0, nil)
		var out strings.Builder
		err := judge(&out, nil, l, func(int32) (int64, error) { return 0, nil })
		if !errors.Is(err, errLost) {
			t.Errorf("judge: %v, want %v", err, errLost)
		}
		if want := "messages=1 handled=1 lost=1 started=1 rebalances=0 longest_stall=0s\n"; out.String() != want {
			t.Errorf("result %q, want %q", out.String(), want)
		}
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errLate)
	if err := oneOf(1).await(ctx, 1); !errors.Is(err, errLate) {
		t.Errorf("await: %v, want %v", err, errLate)
	}
}

func TestTheSameSeedMakesTheSameWork(t *testing.T) {
	o := options{partitions: 3, messages: 10, seed: 5}
	w := makeWork(o)
	if len(w[0]) != 4 || len(w[1]) != 3 || len(w[2]) != 3 {
		t.Errorf("10 messages were dealt as %v", w)
	}
	for p, tasks := range makeWork(o) {
		for offset, d := range tasks {
			if d != w[p][offset] || d < shortest || d > longest {
				t.Errorf("task %d#%d takes %v and then %v", p, offset, w[p][offset], d)
			}
		}
	}
}
