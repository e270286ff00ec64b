package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

// A member is a process of its own, this program once more, so that it can be killed and its memory is its own. Its output:
//
//	ready <nanoseconds since 1970>                          about to join
//	start|end|cut <partition> <offset> <nanoseconds>        see ledger.Event
//	state <bytes of live heap> <goroutines>                 asked for by a line on its input
//	outcome <tasks> <nanoseconds> <nanoseconds in tasks>    with spec.Tasks, and the process ends
//
// The end of its input lets it stop in order. So it does not outlive the program that started it.

// beMember returns the exit code.
func beMember(text string) int {
	s, err := decodeSpec(text)
	if err == nil {
		err = s.run(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (s spec) run(in io.Reader, out io.Writer) error {
	peer, ok := peers.Named(s.Peer)
	if !ok {
		return fmt.Errorf("no peer %q", s.Peer)
	}
	say := &teller{out: out}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go say.answer(in, cancel) // ends with the input, or the process
	say.line("ready %d", time.Now().UnixNano())
	if s.Tasks > 0 {
		return s.count(ctx, peer, say)
	}
	return s.join(ctx, peer, s.tell(say))
}

// join runs the members until ctx ends.
func (s spec) join(ctx context.Context, peer peers.Peer, work peers.Work) error {
	members := max(1, s.Members)
	errs := make([]error, members)
	var wg sync.WaitGroup
	for i := range members {
		wg.Go(func() { errs[i] = peer.Run(ctx, s.Settings, work) }) // ends with ctx
	}
	wg.Wait()
	return errors.Join(errs...)
}

// tell tells of each task.
func (s spec) tell(say *teller) peers.Work {
	return func(ctx context.Context, m peers.Message) error {
		event := func(k ledger.Kind) {
			say.line("%v", ledger.Event{Kind: k, Partition: m.Partition, Offset: m.Offset, At: time.Now()})
		}
		event(ledger.Started)
		if d := s.length(m.Partition); d > 0 {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				event(ledger.Cut)
				return context.Cause(ctx)
			}
		}
		event(ledger.Ended)
		return nil
	}
}

// count works until the tasks are done, or the limit is over, and does not leave the group, which is of this process alone.
func (s spec) count(ctx context.Context, peer peers.Peer, say *teller) error {
	ended := make(chan error, 1)
	meter, work := s.meter()
	go func() { ended <- s.join(ctx, peer, work) }() // ends with the process
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case <-meter.begun():
			limit.Reset(s.Limit)
			meter.begin = nil
			continue
		case o := <-meter.done:
			say.outcome(o)
			return nil
		case <-limit.C:
			say.outcome(meter.now())
			return nil
		case err := <-ended:
			return errors.Join(errors.New("the member has ended early"), err)
		}
	}
}

// meter is what counts tasks: a tally of those that do nothing, else a stopwatch.
type meter struct {
	begin chan struct{} // closed at the first task; nil once it was seen
	done  <-chan outcome
	now   func() outcome
}

func (m *meter) begun() <-chan struct{} { return m.begin }

func (s spec) meter() (*meter, peers.Work) {
	begin := make(chan struct{})
	var once sync.Once
	first := func() { close(begin) }
	if s.Sleep == 0 {
		t := newTally(s.Ends)
		return &meter{begin, t.done, t.now}, func(_ context.Context, m peers.Message) error {
			once.Do(first)
			t.add(m.Partition)
			return nil
		}
	}
	w := newStopwatch(s.Tasks)
	return &meter{begin, w.done, w.now}, func(context.Context, peers.Message) error {
		once.Do(first)
		w.sleep(s.Sleep)
		return nil
	}
}

// teller writes whole lines.
type teller struct {
	mu  sync.Mutex
	out io.Writer
}

func (t *teller) line(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, format+"\n", args...)
}

func (t *teller) outcome(o outcome) {
	t.line("outcome %d %d %d", o.done, o.wall.Nanoseconds(), o.busy.Nanoseconds())
}

// answer answers each line of the input, and stops the member at its end: at the latest in half a minute.
func (t *teller) answer(in io.Reader, stop func()) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		runtime.GC()
		runtime.GC() // what finalizers and pools have let go
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.line("state %d %d", m.HeapAlloc, runtime.NumGoroutine())
	}
	stop()
	time.Sleep(stopLimit)
	os.Exit(3)
}

// stopLimit is how long a member may take to stop in order.
const stopLimit = 30 * time.Second
