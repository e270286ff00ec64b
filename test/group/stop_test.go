package group_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// takeover is what B35 calls seconds. A member that does not leave is missed after S.
const takeover = 3 * time.Second

// duo is two members that work on one partition each.
type duo struct {
	*kit.Group
	a, b *kit.Member
	its  int32 // the partition of a
}

func startDuo(t *testing.T, s kit.Setting, change func(*config.Input), work handler.Func) *duo {
	t.Helper()
	d := &duo{Group: s.Group(t, 2)}
	change(&d.Input)
	gate := kit.NewGate()
	d.a, d.b = d.Start("a", work), d.Start("b", gate.Hold)
	t.Cleanup(gate.Open) // before b is stopped
	d.Until("each owns one", func() bool { return len(d.a.Owns()) == 1 && len(d.b.Owns()) == 1 })
	d.Produce(2)
	d.Until("each works on one", func() bool { return d.a.Status().Running == 1 && d.b.Status().Running == 1 })
	d.its = d.a.Owns()[0]
	return d
}

// wantTakenOver wants b to start at offset on the partition of a within seconds of the stop.
func (d *duo) wantTakenOver(offset int64) {
	stopped, _ := d.Last(kit.Stopped, kit.By("a"))
	started := d.UntilSeen(1, kit.Started, kit.By("b"), kit.OnPartition(d.its), kit.AtOffset(offset), kit.After(stopped.At))
	d.WantWithin("the other takes over", stopped.At, started[0].At, takeover)
}

// B35a. The task outlasts S, so that the heartbeats of the stopping member matter.
func TestB35AStopWaitsForATaskThatEndsInTime(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		gate := kit.NewGate()
		d := startDuo(t, s, func(in *config.Input) { in.StopGrace = time.Minute }, gate.Hold)
		d.a.BeginStop()
		select {
		case <-time.After(d.Plan().SessionTimeout + time.Second):
		case <-d.a.Done():
			d.Fatalf("a stopped before its task ended")
		}
		ended := d.Note("the task ends")
		gate.Open()
		d.WantWithin("from the end of the task to that of the stop", ended, d.a.AwaitStop(), time.Second)
		if o := d.Committed(d.its); o != 1 {
			d.Errorf("committed at %d, want 1", o)
		}
		d.wantTakenOver(1)
		d.WantAtMost(0, kit.Cancelled, kit.By("a"))
		wantNeverExpelled(d.Group)
	}, everywhere()...)
}

// B35b.
func TestB35AStopCancelsATaskThatDoesNotEnd(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) { stopTooEarly(t, s, (*kit.Gate).Hold) }, everywhere()...)
}

// B35b, with a handler that ignores its context.
func TestB35AStopGivesUpATaskThatIgnoresIt(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) { stopTooEarly(t, s, (*kit.Gate).Ignore) }, everywhere()...)
}

func stopTooEarly(t *testing.T, s kit.Setting, work func(*kit.Gate, context.Context, *handler.Task) error) {
	t.Helper()
	const grace = 2 * time.Second
	gate := kit.NewGate()
	defer gate.Open()
	d := startDuo(t, s, func(in *config.Input) { in.StopGrace, in.CrashDetection = grace, 45*time.Second },
		func(ctx context.Context, t *handler.Task) error { return work(gate, ctx, t) })
	begin := d.a.BeginStop()
	cancelled := d.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.Is(handler.ErrDraining))[0].At
	if early := grace - cancelled.Sub(begin); early > 0 {
		d.Errorf("the task was cancelled %v before the grace was over", early)
	}
	d.WantWithin("until the task is cancelled", begin, cancelled, grace)
	d.WantWithin("until the stop returns", begin, d.a.AwaitStop(), grace+2*time.Second)
	d.wantTakenOver(0)
	if o := d.Committed(d.its); o > 0 {
		d.Errorf("committed at %d, want 0", o)
	}
}

// B35c, in the best of three: a machine that stalls for a second is no fault of the library's.
func TestB35AnIdleMemberStopsAtOnce(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.StopGrace, g.Input.CrashDetection = time.Minute, 45*time.Second
		b := g.Start("b", brief)
		best, taken := time.Hour, time.Hour
		for i := range 3 {
			a := g.Start(fmt.Sprint("a", i), brief)
			g.Until("each owns one", func() bool { return len(a.Owns()) == 1 && len(b.Owns()) == 1 })
			begin := a.BeginStop()
			stopped := a.AwaitStop()
			best = min(best, stopped.Sub(begin))
			g.Until("b owns both", func() bool { return len(b.Owns()) == 2 })
			taken = min(taken, time.Since(stopped))
		}
		t.Logf("the stop: %v, the take-over: %v", best, taken)
		if best > time.Second || taken > takeover {
			g.Errorf("the stop took %v, want at most 1s, and the take-over %v, want at most %v", best, taken, takeover)
		}
		g.Produce(1)
		g.UntilAllHandled()
	}, everywhere()...)
}

// B35, for a member that waits for others in a join: the first one gives up its partitions only when its grace is over.
func TestB35AStopDoesNotWaitForAJoin(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.Grace = 4 * time.Second
		g.Produce(1)
		gate := kit.NewGate()
		slow := g.Start("slow", gate.Hold)
		g.UntilSeen(2, kit.Started)
		waits := g.Start("waits", brief)
		g.Until("the join waits", func() bool {
			d, err := g.Broker.Group(g.Name)
			return err == nil && len(d.Members) == 2
		})
		begin := waits.BeginStop()
		g.WantWithin("the stop", begin, waits.AwaitStop(), time.Second)
		g.Until("it is no member", func() bool {
			d, err := g.Broker.Group(g.Name)
			return err == nil && len(d.Members) == 1
		})
		gate.Open()
		g.UntilAllHandled()
		slow.Stop()
		wantNeverExpelled(g)
	}, everywhere()...)
}
