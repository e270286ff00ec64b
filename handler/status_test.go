package handler_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

func TestStatusOfARunningTask(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), func(_ context.Context, m *handler.Task) error {
			if m.Partition == 3 && m.Offset == 1 {
				time.Sleep(time.Hour)
			}
			return nil
		})
		g.consume(newClaim(7, 0))
		time.Sleep(time.Minute)
		g.consume(newClaim(3, 4))
		time.Sleep(10 * time.Minute)
		want := handler.Status{
			Counts: handler.Counts{Started: 2, Succeeded: 1}, Running: 1,
			Claims: []handler.ClaimStatus{
				{
					Claim: handler.Claim{Topic: topic, Partition: 3}, Age: 10 * time.Minute, Backlog: 3, Bytes: 3, Paused: true, Finished: 1,
					Tasks: []handler.RunningTask{{Offset: 1, Attempt: 1, Age: 10 * time.Minute}},
				},
				{Claim: handler.Claim{Topic: topic, Partition: 7}, Age: 11 * time.Minute, Finished: -1},
			},
		}
		if got := g.Status(); !reflect.DeepEqual(got, want) {
			t.Errorf("status\n%+v, want\n%+v", got, want)
		}
		time.Sleep(time.Hour)
		g.end()
		if got := g.Status(); len(got.Claims) != 0 || got.Running != 0 || got.Succeeded != 4 {
			t.Errorf("status after the end %+v", got)
		}
	})
}

func TestStatusOfATaskThatWaitsForItsRetry(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var g *group
		g = newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
			if g.seen.count() == 1 {
				return errTask
			}
			return obedient(time.Hour)(ctx, m)
		})
		g.consume(newClaim(0, 1))
		synctest.Wait()
		if c := g.Status().Claims[0]; !c.Retrying || len(c.Tasks) > 0 || c.Backlog != 1 {
			t.Errorf("claim %+v, want it waiting for a retry", c)
		}
		time.Sleep(time.Minute)
		if c := g.Status().Claims[0]; c.Retrying || len(c.Tasks) == 0 || c.Tasks[0].Attempt != 2 {
			t.Errorf("claim %+v, want the second attempt running", c)
		}
		g.end()
	})
}

// Tasks that are handed over in bunches count as started one by one, and the age of one that lasts is off by a look of the loop at most.
func TestStatusWithinABunch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, short(t), func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 40 {
				return obedient(time.Hour)(ctx, m)
			}
			return nil
		})
		g.consume(newClaim(0, 1000))
		synctest.Wait()
		if st := g.Status(); st.Started != 41 || st.Running != 1 {
			t.Errorf("at once: status %+v, want 41 started", st)
		}
		time.Sleep(time.Second)
		st := g.Status()
		if st.Started != 41 || st.Succeeded != 40 || st.Claims[0].Tasks[0].Offset != 40 || st.Claims[0].Backlog != 960 {
			t.Errorf("later: status %+v", st)
		}
		if age := st.Claims[0].Tasks[0].Age; age < time.Second || age > time.Second+20*time.Millisecond {
			t.Errorf("age %v, want a second", age)
		}
		g.end()
	})
}

// Counters only rise, whatever is taken back.
func TestCountsNeverFall(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, short(t), func(_ context.Context, m *handler.Task) error {
			switch m.Offset % 50 {
			case 7:
				time.Sleep(30 * time.Millisecond) // is cut out of its bunch
			case 9:
				return errTask
			}
			return nil
		})
		g.consume(newClaim(0, 1000))
		var last handler.Counts
		for range 500 {
			time.Sleep(7 * time.Millisecond)
			now := g.Status().Counts
			if now.Started < last.Started || now.Succeeded < last.Succeeded || now.Failed < last.Failed {
				t.Fatalf("from %+v to %+v", last, now)
			}
			last = now
		}
		g.end()
		if st := g.Status(); st.Started != int64(g.seen.count()) || st.Started != st.Succeeded+st.Failed {
			t.Errorf("status %+v, and %d were called", st.Counts, g.seen.count())
		}
	})
}

// B46: an ordinary rebalance is no error and no warning, with tasks in flight too.
func TestOrdinaryRebalanceIsNoError(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, with(t, config.Input{Expected: time.Hour}), obedient(time.Hour))
		for range 5 {
			c, idle := newClaim(0, 3), newClaim(1, 0)
			done, idleDone := g.consume(c), g.consume(idle)
			time.Sleep(time.Minute)
			p.revoke(g, c)
			<-done
			if g.s.ctx.Err() == nil {
				p.revoke(g, idle)
			}
			<-idleDone
			g.s = newSessionWith(g.s)
		}
		for _, level := range []string{"level=ERROR", "level=WARN"} {
			if lines := g.logs.with(level); len(lines) > 0 {
				t.Errorf("logged %q", lines)
			}
		}
		if lines := g.logs.with("claim ended", `reason=rebalance`); len(lines) != 10 {
			t.Errorf("%d entries about ends of claims, want 10", len(lines))
		}
	})
}

// B46, B15: a failure is a warning, a task that is given up too.
func TestWarnings(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		var g *group
		g = newGroup(t, options(t), func(ctx context.Context, m *handler.Task) error {
			if g.seen.count() == 1 {
				return errTask
			}
			return deaf(time.Hour)(ctx, m)
		})
		c := newClaim(0, 3)
		done := g.consume(c)
		time.Sleep(time.Minute)
		p.revoke(g, c)
		<-done
		g.s = newSessionWith(g.s)
		g.consume(newClaim(0, 1))
		time.Sleep(2 * time.Hour)
		g.end()
		for _, want := range []string{"task failed: it is tried again", "its result will be dropped", "nothing starts there before"} {
			if lines := g.logs.with("level=WARN", want, "topic=reports", "partition=0"); len(lines) != 1 {
				t.Errorf("%d warnings %q, want 1", len(lines), want)
			}
		}
		if lines := g.logs.with("level=ERROR"); len(lines) > 0 {
			t.Errorf("logged %q", lines)
		}
	})
}

// A failure during the release is not tried again here, and says so.
func TestFailureDuringTheReleaseIsLeftToTheNextOwner(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		g := newGroup(t, with(t, config.Input{Expected: time.Minute, Grace: 3 * time.Minute}), func(context.Context, *handler.Task) error {
			time.Sleep(time.Minute)
			return errTask
		})
		c := newClaim(0, 3)
		done := g.consume(c)
		time.Sleep(30 * time.Second)
		p.revoke(g, c)
		<-done
		time.Sleep(time.Hour)
		g.wantStarted(0)
		if lines := g.logs.with("level=WARN", "the next owner of the partition tries it again"); len(lines) != 1 {
			t.Errorf("%d entries", len(lines))
		}
		if lines := g.logs.with("retry_in"); len(lines) > 0 {
			t.Errorf("logged %q", lines)
		}
		if st := g.Status(); st.Failed != 1 {
			t.Errorf("status %+v", st.Counts)
		}
	})
}
