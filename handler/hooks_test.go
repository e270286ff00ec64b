package handler_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// taskEnds keeps what it hears of tasks.
type taskEnds struct {
	mu     sync.Mutex
	starts map[int64]int
	list   []handler.TaskEnd
}

func (h *taskEnds) OnTaskStart(m *sarama.ConsumerMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.starts == nil {
		h.starts = map[int64]int{}
	}
	h.starts[m.Offset]++
}

func (h *taskEnds) OnTaskEnd(e handler.TaskEnd) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, e)
}

func (h *taskEnds) all() []handler.TaskEnd {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

// of returns the outcomes of an offset, in order.
func (h *taskEnds) of(offset int64) (outcomes []handler.Outcome) {
	for _, e := range h.all() {
		if e.Message.Offset == offset {
			outcomes = append(outcomes, e.Outcome)
		}
	}
	return outcomes
}

// Each start is told once and has one end, with its outcome.
func TestHooksHearEachOutcomeOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		var heard taskEnds
		var ends claimEnds
		o := options(t)
		o.Hooks = []any{&heard, &ends}
		g := newGroup(t, o, func(ctx context.Context, m *handler.Task) error {
			switch first := len(heard.of(m.Offset)) == 0; {
			case m.Partition == 1:
				return deaf(time.Hour)(ctx, m)
			case m.Offset == 1 && first:
				return errTask
			case m.Offset == 2 && first:
				panic("boom")
			case m.Offset == 3 && first:
				runtime.Goexit()
			case m.Offset == 5:
				return obedient(time.Hour)(ctx, m)
			}
			return nil
		})
		c, stubborn := newClaim(0, 7), newClaim(1, 0)
		stubborn.put(100, 102)
		done, stubbornDone := g.consume(c), g.consume(stubborn)
		time.Sleep(time.Minute)
		p.revoke(g, c)
		<-done
		close(stubborn.messages)
		<-stubbornDone
		time.Sleep(time.Hour)
		for offset, want := range map[int64][]handler.Outcome{
			0:   {handler.Succeeded},
			1:   {handler.Failed, handler.Succeeded},
			2:   {handler.Failed, handler.Succeeded},
			3:   {handler.Failed, handler.Succeeded},
			4:   {handler.Succeeded},
			5:   {handler.Cancelled},
			6:   nil,
			100: {handler.Stray},
			101: nil,
		} {
			if got := heard.of(offset); !slices.Equal(got, want) {
				t.Errorf("offset %d: %v, want %v", offset, got, want)
			}
			if got := heard.starts[offset]; got != len(want) {
				t.Errorf("offset %d: %d starts, want %d", offset, got, len(want))
			}
		}
		checkAttempts(t, heard.all())
		for _, e := range ends.all() {
			if e.Cancelled != int(1-e.Partition) || e.Abandoned != int(e.Partition) {
				t.Errorf("partition %d ended with %d cancelled and %d abandoned", e.Partition, e.Cancelled, e.Abandoned)
			}
		}
		if lines := g.logs.with("level=INFO", "claim ended with a cancelled task"); len(lines) != 1 {
			t.Errorf("the cancelled task is told %d times", len(lines))
		}
	})
}

func checkAttempts(t *testing.T, ends []handler.TaskEnd) {
	for _, e := range ends {
		want := 1
		if e.Outcome == handler.Succeeded && slices.Contains([]int64{1, 2, 3}, e.Message.Offset) {
			want = 2
		}
		if e.Attempt != want {
			t.Errorf("offset %d, %v: attempt %d, want %d", e.Message.Offset, e.Outcome, e.Attempt, want)
		}
		if (e.Err == nil) != (e.Outcome == handler.Succeeded || e.Message.Offset == 100) {
			t.Errorf("offset %d, %v: error %v", e.Message.Offset, e.Outcome, e.Err)
		}
		if e.Message.Offset == 100 && e.Elapsed != time.Hour {
			t.Errorf("the stray took %v, want an hour", e.Elapsed)
		}
	}
}

// badHook panics at everything.
type badHook struct{}

func (badHook) OnTaskStart(*sarama.ConsumerMessage) { panic("start") }
func (badHook) OnTaskEnd(handler.TaskEnd)           { panic("end") }
func (badHook) OnClaimStart(handler.Claim)          { panic("claim start") }
func (badHook) OnClaimEnd(handler.ClaimEnd)         { panic("claim end") }
func (badHook) OnGap(handler.Gap)                   { panic("gap") }

// A hook that panics disturbs neither tasks nor claims nor other hooks, and is logged.
func TestHookThatPanicsDisturbsNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var heard taskEnds
		var ends claimEnds
		o := options(t)
		o.Hooks = []any{badHook{}, &heard, &ends}
		g := newGroup(t, o, nothing)
		m := newMemberSession()
		m.stored = 3
		c := newClaim(0, 0)
		c.initial = sarama.OffsetOldest
		c.put(5, 8)
		done := g.consumeIn(m, c)
		time.Sleep(time.Minute)
		m.cancel(errStopped)
		<-done
		if got := m.committed(0); got != 8 {
			t.Errorf("committed %d, want 8", got)
		}
		if len(heard.all()) != 3 || len(ends.all()) != 1 {
			t.Errorf("the other hooks heard %d tasks and %d claims end", len(heard.all()), len(ends.all()))
		}
		if lines := g.logs.with("level=ERROR", "a hook panicked", "handler_test.badHook"); len(lines) != 3+3+3 {
			t.Errorf("%d entries, want 9", len(lines))
		}
	})
}

// gaps keeps what it hears.
type gaps struct{ list []handler.Gap }

func (g *gaps) OnGap(e handler.Gap) { g.list = append(g.list, e) }

// B44: a committed offset that no longer exists is told once, where the member can know it.
func TestGapIsTold(t *testing.T) {
	for _, test := range []struct {
		stored int64
		want   []handler.Gap
	}{
		{100, []handler.Gap{{Claim: handler.Claim{Topic: topic}, Committed: 100, First: 500}}},
		{900, []handler.Gap{{Claim: handler.Claim{Topic: topic}, Committed: 900, First: 500}}},
		{500, nil},
		{-1, nil},
	} {
		inVirtualTime(t, func(t *testing.T) {
			var heard gaps
			o := options(t)
			o.Hooks = []any{&heard}
			g := newGroup(t, o, nothing)
			m := newMemberSession()
			m.stored = test.stored
			c := newClaim(0, 0)
			c.initial, c.end = sarama.OffsetOldest, 503
			c.put(500, 503)
			done := g.consumeIn(m, c)
			time.Sleep(time.Minute)
			m.cancel(errStopped)
			<-done
			if !slices.Equal(heard.list, test.want) {
				t.Errorf("committed %d: heard %+v, want %+v", test.stored, heard.list, test.want)
			}
			if lines := g.logs.with("level=WARN", "no longer exists"); len(lines) != len(test.want) {
				t.Errorf("committed %d: %d entries", test.stored, len(lines))
			}
		})
	}
}

// A coordinator that has just taken over may tell sarama that nothing was committed. What was finished is not run again then, and
// the commit stays.
func TestCommitThatIsFoundLateIsKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		var heard gaps
		o := options(t)
		o.Hooks = []any{&heard}
		g := newGroup(t, o, nothing)
		m := newMemberSession()
		m.stored = 3
		c := newClaim(0, 5)
		c.initial, c.end = sarama.OffsetOldest, 5
		done := g.consumeIn(m, c)
		time.Sleep(time.Minute)
		m.cancel(errStopped)
		<-done
		g.wantStarted(3, 4)
		if len(m.marks) == 0 || slices.Min(m.marks) < 3 || m.committed(0) != 5 {
			t.Errorf("committed %v, want nothing below 3, and 5 in the end", m.marks)
		}
		if len(heard.list) != 0 {
			t.Errorf("a gap was told: %+v", heard.list)
		}
	})
}

// A broker that is slow to say what was committed holds up no revocation.
func TestSlowLookUpHoldsUpNoRevocation(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), nothing)
		m := newMemberSession()
		m.ask = func(ctx context.Context) {
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
		}
		c := newClaim(0, 3)
		c.initial = sarama.OffsetOldest
		done := g.consumeIn(m, c)
		time.Sleep(time.Second)
		if took := elapsed(func() { m.cancel(sarama.ErrRebalanceInProgress); <-done }); took != 0 {
			t.Errorf("the claim ended after %v", took)
		}
		g.wantStarted()
		if len(m.marks) != 0 {
			t.Errorf("marked %v, though nobody has said what was committed", m.marks)
		}
	})
}
