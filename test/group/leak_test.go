package group_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B38.
func TestB38AResultAfterTheStopIsDropped(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Input.StopGrace = config.NoGrace
		g.Produce(1)
		own := newStubborn(t)
		a := g.Start("a", own.handle)
		g.UntilSeen(1, kit.Started)
		a.Stop()
		own.endAll()
		g.UntilSeen(1, kit.Returned)
		g.Until("it is counted as a stray", func() bool { st := a.Status(); return st.Strays == 1 && st.Running == 0 })
		wantUnmoved(g, 0)
		g.WantAtMost(0, kit.Committed, kit.From(1))
	}, everywhere()...)
}

// B38. It is not parallel, for it counts the goroutines of the process.
func TestB38ManyCyclesLeaveNothingBehind(t *testing.T) {
	const warmUp, cycles = 5, 25 // of two rebalances and two members that come and go, at least
	broker := shared.Kafka(t, kit.Version())
	staffs := []*staff{newStaff(t, kit.Setting{Broker: broker, Eager: true}), newStaff(t, kit.Setting{Broker: broker})}
	var before footprint
	for i := range warmUp + cycles {
		if i == warmUp {
			before = settled(staffs)
		}
		var all sync.WaitGroup
		for _, s := range staffs {
			all.Go(s.cycle) // ends with the cycle
		}
		all.Wait()
	}
	after := settled(staffs)
	t.Logf("before %v, after %v", before, after)
	if after.goroutines > before.goroutines+5 {
		t.Errorf("%d goroutines after %d cycles, %d before\n%s", after.goroutines, cycles, before.goroutines, stacks())
	}
	if after.heap > before.heap+4<<20 {
		t.Errorf("%d bytes in use after %d cycles, %d before", after.heap, cycles, before.heap)
	}
	for _, s := range staffs {
		if n := s.stays.Status().Rebalances; n < 2*cycles {
			s.Errorf("%d rebalances, want at least %d", n, 2*cycles)
		}
	}
}

// staff is a member that stays, and two that come and go.
type staff struct {
	*kit.Group
	gate  *kit.Gate
	stays *kit.Member
}

func newStaff(t *testing.T, s kit.Setting) *staff {
	t.Helper()
	p := &staff{Group: s.Group(t, 6), gate: kit.NewGate()}
	p.Input.StopGrace, p.Input.Heartbeat = config.NoGrace, 50*time.Millisecond
	p.Produce(1)
	p.stays = p.Start("stays", p.gate.Hold)
	return p
}

// cycle has tasks in flight at all times.
func (s *staff) cycle() {
	b, c := s.Start("b", s.gate.Hold), s.Start("c", s.gate.Hold)
	s.Until("all three work", func() bool {
		return b.Status().Running == 2 && c.Status().Running == 2 && s.stays.Status().Running == 2
	})
	b.BeginStop()
	c.BeginStop()
	b.AwaitStop()
	c.AwaitStop()
	s.Until("the one that stays works on all", func() bool { return s.stays.Status().Running == 6 })
}

// B38. The moments are spread over all that a member does on its way into the group. The in-process broker cannot run it: a member
// that leaves while it waits in a SyncGroup makes it count wrongly, and later joins are then not answered.
func TestB38AStopAtAnyMomentReturns(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.StopGrace = config.NoGrace
		g.Produce(1)
		gate := kit.NewGate()
		stays := g.Start("stays", gate.Hold)
		for i := range 40 {
			m := g.Start(fmt.Sprint("m", i), gate.Hold)
			time.Sleep(time.Duration(i) * 15 * time.Millisecond)
			if took := m.Stop(); took > 2*time.Second+kit.Slack { // as Run documents, without a grace
				g.Errorf("the stop of %s took %v, want at most 2s (and %v for a slow machine)", m.Name, took, kit.Slack)
			}
			if d, err := g.Broker.Group(g.Name); err != nil || len(d.Members) > 1 {
				g.Errorf("%d members after the stop of %s, want 1: %v", len(d.Members), m.Name, err)
			}
		}
		gate.Open()
		g.UntilAllHandled()
		stays.Stop()
		wantNeverExpelled(g)
	}, kafka())
}

type footprint struct {
	goroutines int
	heap       int64
}

func (f footprint) String() string {
	return fmt.Sprintf("%d goroutines, %d kB", f.goroutines, f.heap>>10)
}

// settled waits until the number of goroutines is the same for a while: what ends with the last cycle has ended.
func settled(staffs []*staff) (f footprint) {
	for same := 0; same < 20; same++ {
		if n := runtime.NumGoroutine(); n != f.goroutines {
			f.goroutines, same = n, 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, s := range staffs {
		s.Forget()
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap = int64(m.HeapAlloc)
	return f
}

func stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}

// B38. What it proves is up to the race detector.
func TestB38TrafficRebalancesAndReadersDoNotRace(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 8)
		g.Input.Expected, g.Input.Heartbeat = 100*time.Millisecond, 50*time.Millisecond
		enough := feed(g)
		a := g.Start("a", brief)
		over := make(chan struct{})
		var readers sync.WaitGroup
		readers.Go(func() { read(a, over) }) // ends with over
		for i := range 3 {
			b := g.Start(fmt.Sprint("b", i), handler.Func(brief))
			readers.Go(func() { read(b, over) })
			g.Until("both work", func() bool { return b.Status().Succeeded > 8 && len(a.Owns()) == 4 })
			b.Stop()
		}
		enough()
		g.UntilAllHandled()
		a.Stop()
		close(over)
		readers.Wait()
	}, everywhere()...)
}

func read(m *kit.Member, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
			_ = fmt.Sprint(m.Status())
		}
	}
}
