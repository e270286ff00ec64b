package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/fleet"
	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/chaos/member"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// World is what can be broken.
type World struct {
	Fleet   *fleet.Fleet
	Cluster *kafkatest.NodeCluster
	Book    *ledger.Book
	Say     func(format string, args ...any) // tells people what goes on
	Keep    *fleet.Slot                      // whose process no fault ends, nil for none: how memory fares over hours has to be seen

	nodes sync.Mutex // one node at a time may be down
	crowd sync.Mutex // one burst at a time

	mu   sync.Mutex
	errs []error
}

// errBusy says that what a fault is for has another one at the time, or that there is nothing left to do for it: it is left out.
var errBusy = errors.New("busy")

// stopLimit is when a member that does not stop is killed: long after it has broken its promise.
const stopLimit = member.StopGrace + 26*time.Second

// Run carries a schedule out. It returns when all faults have ended, with ctx before its end at the latest, and everything is whole again. Where
// faults come one by one and one takes longer than it should, all that follows is later by that.
func (w *World) Run(ctx context.Context, steps []Step) error {
	begin := time.Now()
	var running sync.WaitGroup
	for _, s := range steps {
		if !sleep(ctx, s.At-time.Since(begin)) {
			break
		}
		if !s.Patient {
			running.Go(func() { w.step(ctx, s) }) // ends with its time
			continue
		}
		w.step(ctx, s)
		if late := time.Since(begin) - (s.At + s.Lasts); late > 0 {
			begin = begin.Add(late)
		}
	}
	running.Wait()
	return errors.Join(w.errs...)
}

func (w *World) step(ctx context.Context, s Step) {
	err := all[s.Name].run(ctx, w, s)
	if errors.Is(err, errBusy) {
		w.Book.Add(ledger.Event{Kind: ledger.LeftOut, Fault: s.Number, Text: s.Name})
		return
	}
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.errs = append(w.errs, fmt.Errorf("%v: %w", s, err))
	}
}

// take takes what a fault is for. A patient one waits for it.
func (s Step) take(l *sync.Mutex) bool {
	if s.Patient {
		l.Lock()
		return true
	}
	return l.TryLock()
}

// during writes down when a fault begins and ends.
func (w *World) during(s Step, who string, f func() error) error {
	e := ledger.Event{Fault: s.Number, Member: who, Text: s.Name, Class: s.Class}
	begin, end := e, e
	begin.Kind, end.Kind = ledger.Fault, ledger.Calm
	w.Say("%v %s", s, who)
	w.Book.Add(begin)
	err := f()
	w.Book.Add(end)
	return err
}

// sleep returns false when ctx has ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return ctx.Err() == nil
	}
}

// onSlot runs a fault of one member: that which the lot falls on, among those that have a process and no other fault.
func (w *World) onSlot(s Step, f func(*fleet.Slot) error) error {
	return w.onOneOf(w.Fleet.Slots, s, f)
}

// onProcess is onSlot for a fault that ends the process.
func (w *World) onProcess(s Step, f func(*fleet.Slot) error) error {
	return w.onOneOf(w.mortal(), s, f)
}

// mortal are the slots whose process may be ended.
func (w *World) mortal() []*fleet.Slot {
	return slices.DeleteFunc(slices.Clone(w.Fleet.Slots), func(slot *fleet.Slot) bool { return slot == w.Keep })
}

func (w *World) onOneOf(slots []*fleet.Slot, s Step, f func(*fleet.Slot) error) error {
	for _, slot := range s.turned(slots) {
		if slot.Process() != "" && slot.Take() {
			return w.taken(s, slot, f)
		}
	}
	return errBusy
}

// turned begins with the slot that the lot falls on.
func (s Step) turned(slots []*fleet.Slot) []*fleet.Slot {
	first := int(s.Lot % uint64(len(slots)))
	return slices.Concat(slots[first:], slots[:first])
}

// taken runs a fault of a slot that was taken for it.
func (w *World) taken(s Step, slot *fleet.Slot, f func(*fleet.Slot) error) error {
	defer slot.Free()
	return w.during(s, slot.Process(), func() error { return f(slot) })
}

// group is the one that a second lot falls on.
func (w *World) group(s Step) ledger.Group {
	groups := w.Book.Header.Groups
	return groups[(s.Lot>>32)%uint64(len(groups))]
}
