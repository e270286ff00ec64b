package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/fleet"
)

// onCrowd runs a planned change of how many members there are, while no other one is there.
func (w *World) onCrowd(s Step, f func() error) error {
	if !s.take(&w.crowd) {
		return errBusy
	}
	defer w.crowd.Unlock()
	return w.during(s, "", f)
}

func joinLeave(ctx context.Context, w *World, s Step) error {
	return w.onCrowd(s, func() error {
		var errs []error
		gap := time.Duration(s.Lot%500) * time.Millisecond
		pair := w.Fleet.Extra[:2]
		for _, slot := range pair {
			errs = append(errs, slot.Spawn())
			sleep(ctx, gap)
		}
		sleep(ctx, s.Lasts)
		for _, slot := range pair {
			errs = append(errs, slot.BeginStop())
			sleep(ctx, gap)
		}
		for _, slot := range pair {
			errs = append(errs, slot.AwaitStop(stopLimit))
		}
		return errors.Join(errs...)
	})
}

// storm lets each extra member come and go by lots of its own, so that one round is not over when the next change comes.
func storm(ctx context.Context, w *World, s Step) error {
	return w.onCrowd(s, func() error {
		end := time.Now().Add(s.Lasts)
		errs := make([]error, len(w.Fleet.Extra))
		var all sync.WaitGroup
		for i, slot := range w.Fleet.Extra {
			r := rand.New(rand.NewPCG(s.Lot, uint64(i)))
			all.Go(func() { errs[i] = comeAndGo(ctx, slot, r, end) }) // ends with its time
		}
		all.Wait()
		return errors.Join(errs...)
	})
}

// How long a member of a storm stays away, and how long it stays: some are asked to leave before they have joined.
const (
	longestAway = 500 * time.Millisecond
	longestStay = 2 * time.Second
)

func comeAndGo(ctx context.Context, slot *fleet.Slot, r *rand.Rand, end time.Time) (err error) {
	for err == nil && sleep(ctx, span(r, 0, longestAway)) && time.Now().Before(end) {
		if err = slot.Spawn(); err == nil {
			sleep(ctx, span(r, 0, longestStay))
			err = slot.Stop(stopLimit)
		}
	}
	return err
}

// sizes are how many members there are, one after the other.
var sizes = []int{1, 3, 5, 2}

// scale changes the number of members as an operator does, or an autoscaler. It needs all slots, and leaves them as they were.
func scale(ctx context.Context, w *World, s Step) error {
	if !w.takeAll(ctx, s) {
		return errBusy
	}
	defer w.freeAll()
	return w.onCrowd(s, func() error {
		var errs []error
		places, stage := w.inOrder(s), s.Lasts/time.Duration(len(sizes))
		for _, n := range sizes {
			next := time.Now().Add(stage)
			errs = append(errs, resize(places, n))
			sleep(ctx, time.Until(next))
		}
		return errors.Join(append(errs, resize(places, len(w.Fleet.Slots)))...)
	})
}

// takeAll takes all slots or none. A patient fault tries again until it has them.
func (w *World) takeAll(ctx context.Context, s Step) bool {
	for {
		taken := slices.IndexFunc(w.Fleet.Slots, func(slot *fleet.Slot) bool { return !slot.Take() })
		if taken < 0 {
			return true
		}
		for _, slot := range w.Fleet.Slots[:taken] {
			slot.Free()
		}
		if !s.Patient || !sleep(ctx, 100*time.Millisecond) {
			return false
		}
	}
}

func (w *World) freeAll() {
	for _, slot := range w.Fleet.Slots {
		slot.Free()
	}
}

// inOrder are the places in the order in which they are filled: the lot says which slot is the first, unless one has to stay.
func (w *World) inOrder(s Step) []*fleet.Slot {
	slots := s.turned(w.Fleet.Slots)
	if first := slices.Index(slots, w.Keep); first > 0 {
		slots = slices.Concat(slots[first:], slots[:first])
	}
	return slices.Concat(slots, w.Fleet.Extra)
}

// resize makes the first n places those that have a process. Those that have to go stop all at once.
func resize(places []*fleet.Slot, n int) error {
	var errs []error
	leaving := slices.DeleteFunc(slices.Clone(places[n:]), func(slot *fleet.Slot) bool { return slot.Process() == "" })
	for _, slot := range leaving {
		errs = append(errs, slot.BeginStop())
	}
	for _, slot := range places[:n] {
		if slot.Process() == "" {
			errs = append(errs, slot.Spawn())
		}
	}
	for _, slot := range leaving {
		errs = append(errs, slot.AwaitStop(stopLimit))
	}
	return errors.Join(errs...)
}
