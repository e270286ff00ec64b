package member

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// witness writes down what one member of a group does.
type witness struct {
	group  string
	ledger *ledger.Writer
	calls  *atomic.Int64 // of the process
	latest atomic.Int32  // generation of the latest assignment
}

var (
	_ consumer.RebalanceHook  = (*witness)(nil)
	_ consumer.PlanHook       = (*witness)(nil)
	_ consumer.SessionEndHook = (*witness)(nil)
	_ consumer.CommitHook     = (*witness)(nil)
	_ handler.ClaimStartHook  = (*witness)(nil)
	_ handler.ClaimEndHook    = (*witness)(nil)
	_ slog.Handler            = (*log)(nil)
)

func (w *witness) add(e ledger.Event) {
	e.Group = w.group
	w.ledger.Add(e)
}

// around writes down each call of work: its begin before anything is done, its end before the library hears of it, also where it is
// a panic or a Goexit.
func (w *witness) around(work handler.Func) handler.Func {
	return func(ctx context.Context, t *handler.Task) (err error) {
		at := ledger.Event{Partition: t.Partition, Offset: t.Offset, Key: string(t.Key), Call: w.calls.Add(1), Generation: w.latest.Load()}
		tell := func(k ledger.Kind, text, err string) {
			e := at
			e.Kind, e.Text, e.Err = k, text, err
			w.add(e)
		}
		tell(ledger.Started, "", "")
		stop := context.AfterFunc(ctx, func() { tell(ledger.Canceled, "", context.Cause(ctx).Error()) })
		verdict := "did not return"
		defer func() {
			text := ""
			if !stop() { // before the context of the call ends by itself
				text = ledger.Late
			}
			tell(ledger.Ended, text, verdict)
		}()
		err = work(ctx, t)
		verdict = ""
		if err != nil {
			verdict = err.Error()
		}
		return err
	}
}

// OnPlan implements consumer.PlanHook.
func (w *witness) OnPlan(consumer.GroupPlan) { w.add(ledger.Event{Kind: ledger.Leads}) }

// OnRebalance implements consumer.RebalanceHook.
func (w *witness) OnRebalance(r consumer.Rebalance) {
	w.latest.Store(r.Generation)
	w.add(ledger.Event{Kind: ledger.Assigned, Generation: r.Generation, Text: r.Assigned.String()})
}

// OnSessionEnd implements consumer.SessionEndHook.
func (w *witness) OnSessionEnd(e consumer.SessionEnd) {
	w.add(ledger.Event{Kind: ledger.Session, ID: e.MemberID, Generation: e.Generation, Text: string(e.Kind), Err: text(e.Cause), Own: own(e.Cause)})
}

// own says what a member has begun a round for, "" where others have.
func own(cause error) string {
	switch {
	case errors.Is(cause, sarama.ErrSessionPartitionCountChanged):
		return ledger.HasGrown
	case errors.Is(cause, handler.ErrRevoked):
		return ledger.AsksAgain
	default:
		return ""
	}
}

// OnCommit implements consumer.CommitHook.
func (w *witness) OnCommit(c consumer.Commit) {
	e := ledger.Event{Kind: ledger.Answered, Partition: c.Partition, Offset: c.Offset, Err: text(c.Err), Took: c.Elapsed}
	var answer sarama.KError
	switch {
	case c.Err != nil && !errors.As(c.Err, &answer):
		e.Text = ledger.Unanswered
	case c.Dropped:
		e.Text = "dropped"
	}
	w.add(e)
}

// OnClaimStart implements handler.ClaimStartHook.
func (w *witness) OnClaimStart(c handler.Claim) {
	w.add(ledger.Event{Kind: ledger.Claimed, Partition: c.Partition, Generation: w.latest.Load()})
}

// OnClaimEnd implements handler.ClaimEndHook.
func (w *witness) OnClaimEnd(e handler.ClaimEnd) {
	w.add(ledger.Event{
		Kind: ledger.Released, Partition: e.Partition, Took: e.Waited,
		Text: fmt.Sprintf("%v: %d succeeded, %d cancelled, %d kept, %d abandoned", e.Reason, e.Succeeded, e.Cancelled, e.Kept, e.Abandoned),
	})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// log writes down the member's warnings.
type log struct {
	*witness
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (l *log) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (l *log) Handle(_ context.Context, r slog.Record) error {
	parts := []string{r.Level.String(), r.Message}
	add := func(a slog.Attr) bool {
		if a.Key != "stack" {
			parts = append(parts, a.String())
		}
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	l.add(ledger.Event{Kind: ledger.Logged, Text: strings.Join(parts, " ")})
	return nil
}

// WithAttrs implements slog.Handler.
func (l *log) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &log{witness: l.witness, attrs: append(append([]slog.Attr{}, l.attrs...), attrs...)}
}

// WithGroup implements slog.Handler.
func (l *log) WithGroup(string) slog.Handler { return l }

// sampleEach is how often a process looks at itself.
const sampleEach = time.Second
