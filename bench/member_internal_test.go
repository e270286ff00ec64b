package main

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

// loop is a peer whose only partition has so many messages, handled one after another.
type loop struct{ messages int }

func (loop) Name() string          { return "loop" }
func (loop) Says() string          { return "" }
func (loop) Orders() []peers.Order { return nil }

func (p loop) Run(ctx context.Context, _ peers.Settings, work peers.Work) error {
	for i := 0; i < p.messages && ctx.Err() == nil; i++ {
		_ = work(ctx, peers.Message{Partition: 2, Offset: int64(i)}) // fails with the context
	}
	<-ctx.Done()
	return nil
}

func TestASpecReachesTheMember(t *testing.T) {
	want := spec{Peer: "x", Settings: peers.Settings{Brokers: []string{"a", "b"}, Order: peers.ByKey, Slots: 3, Task: time.Second}, Ends: []int64{1, 2}, Step: 5}
	text, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeSpec(text); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAMemberTellsOfItsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s := spec{Sleep: time.Second, Step: time.Second} // on partition 2: three seconds
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if err := s.join(ctx, loop{messages: 5}, s.tell(&teller{out: &out})); err != nil {
			t.Fatal(err)
		}
		var book ledger.Ledger
		for line := range strings.Lines(out.String()) {
			e, ok, err := ledger.Parse(line)
			if !ok || err != nil {
				t.Fatalf("%q: %v, %v", line, ok, err)
			}
			book.Add(0, e)
		}
		runs := book.Runs(time.Now())
		if len(runs) != 2 || runs[0].How != ledger.Done || runs[0].Took() != 3*time.Second || runs[1].How != ledger.Cancelled || runs[1].Took() != time.Second {
			t.Errorf("%+v", runs)
		}
	})
}

// counted is the outcome that a member prints of tasks of a second.
func counted(t *testing.T, s spec, messages int) outcome {
	t.Helper()
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	err := s.count(ctx, loop{messages}, &teller{out: &out})
	cancel()
	time.Sleep(s.Sleep) // for the task that runs
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(out.String(), "outcome ")
	o, err := parseOutcome(line)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAMemberCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := counted(t, spec{Tasks: 4, Sleep: time.Second, Limit: time.Minute}, 4)
		if want := (outcome{done: 4, wall: 4 * time.Second, busy: 4 * time.Second}); o != want {
			t.Errorf("%+v, want %+v", o, want)
		}
	})
}

func TestAMemberIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := counted(t, spec{Tasks: 10, Sleep: time.Second, Limit: 2500 * time.Millisecond}, 10)
		if o.done != 2 || o.wall != 2500*time.Millisecond {
			t.Errorf("%+v, want 2 in 2.5 s", o)
		}
	})
}

func TestTasksOfNothingAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s := spec{Tasks: 5, Ends: []int64{0, 0, 9}, Limit: time.Second} // 9 that never come
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := s.count(ctx, loop{5}, &teller{out: &out}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), "outcome 5 ") {
			t.Errorf("%q", out.String())
		}
	})
}

func TestAMemberAnswersUntilItsInputEnds(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	stopped := make(chan struct{})
	go (&teller{out: out}).answer(in, func() { close(stopped) }) // ends with the test program, long before its limit
	if _, err := io.WriteString(ask, "state\n"); err != nil {
		t.Fatal(err)
	}
	p := &process{states: make(chan state, 1)}
	buffer := make([]byte, 100)
	n, err := answers.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.hear(strings.TrimSpace(string(buffer[:n]))); err != nil {
		t.Fatal(err)
	}
	if held := <-p.states; held.heap <= 0 || held.goroutines < 1 {
		t.Errorf("%+v", held)
	}
	ask.Close()
	<-stopped
}

func TestLinesThatMeanNothingArePassedOver(t *testing.T) {
	p := &process{ready: make(chan time.Time, 1), outcomes: make(chan outcome, 1), ledger: &ledger.Ledger{}}
	for _, line := range []string{"some library says hello", "", "ready 1000000000", "start 1 2 3"} {
		if err := p.hear(line); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if at := <-p.ready; at.Unix() != 1 || len(p.ledger.Runs(time.Now())) != 1 {
		t.Errorf("ready at %v, runs %v", at, p.ledger.Runs(time.Now()))
	}
	for _, line := range []string{"ready x", "state x", "outcome 1", "start 1 2"} {
		p.states, p.ready = make(chan state, 1), make(chan time.Time, 1)
		if err := p.hear(line); err == nil {
			t.Errorf("%q is no error", line)
		}
	}
}
