package ledger_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
)

var base = time.Unix(1_000, 0)

// at is a second of the story.
func at(second float64) time.Time { return base.Add(time.Duration(second * float64(time.Second))) }

func TestALineIsReadAsItWasWritten(t *testing.T) {
	want := ledger.Event{Kind: ledger.Cut, Partition: 3, Offset: 42, At: at(1.5)}
	got, ok, err := ledger.Parse(want.String())
	if err != nil || !ok || got.Kind != want.Kind || got.Partition != 3 || got.Offset != 42 || !got.At.Equal(want.At) {
		t.Errorf("%q became %+v, %v, %v", want, got, ok, err)
	}
}

func TestOtherLinesAreNoEvents(t *testing.T) {
	for _, line := range []string{"", "ready 5", "outcome 1 2 3", "some library says: start"} {
		if _, ok, err := ledger.Parse(line); ok || err != nil {
			t.Errorf("%q: event %v, error %v", line, ok, err)
		}
	}
}

func TestBrokenEventsAreErrors(t *testing.T) {
	for _, line := range []string{"start", "end 1 2", "cut x 2 3", "start 1 y 3", "start 1 2 z", "start 99999999999 1 1", "end 1 2 3 4"} {
		if _, ok, err := ledger.Parse(line); ok || err == nil {
			t.Errorf("%q: event %v, error %v", line, ok, err)
		}
	}
}

// told is a ledger that has heard a story: kind, member, partition, offset, second.
type told struct {
	kind   ledger.Kind
	member int
	p      int32
	offset int64
	second float64
}

const (
	s = ledger.Started
	e = ledger.Ended
	c = ledger.Cut
)

func tell(story ...told) *ledger.Ledger {
	var l ledger.Ledger
	for _, one := range story {
		l.Add(one.member, ledger.Event{Kind: one.kind, Partition: one.p, Offset: one.offset, At: at(one.second)})
	}
	return &l
}

func TestRunsEndAsTheyWereTold(t *testing.T) {
	l := tell(
		told{s, 0, 0, 1, 0}, told{e, 0, 0, 1, 1},
		told{s, 0, 0, 2, 1}, told{c, 0, 0, 2, 3},
		told{s, 1, 0, 3, 2},
		told{s, 2, 0, 4, 2},
		told{e, 2, 9, 9, 2}, // an end without a start
	)
	l.Kill(1, at(4))
	runs := l.Runs(at(5))
	want := []struct {
		how  ledger.How
		took time.Duration
	}{{ledger.Done, time.Second}, {ledger.Cancelled, 2 * time.Second}, {ledger.Killed, 2 * time.Second}, {ledger.Running, 3 * time.Second}}
	if len(runs) != len(want) {
		t.Fatalf("%d runs, want %d", len(runs), len(want))
	}
	for i, w := range want {
		if runs[i].How != w.how || runs[i].Took() != w.took {
			t.Errorf("run %d: %v for %v, want %v for %v", i, runs[i].How, runs[i].Took(), w.how, w.took)
		}
	}
}

// A member may run a message twice at once: the ends come in the order of the starts.
func TestTheFirstStartEndsFirst(t *testing.T) {
	runs := tell(told{s, 0, 0, 1, 0}, told{s, 0, 0, 1, 1}, told{e, 0, 0, 1, 5}).Runs(at(9))
	if runs[0].Took() != 5*time.Second || runs[1].How != ledger.Running {
		t.Errorf("%+v", runs)
	}
}
