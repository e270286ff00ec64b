package kit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// witness tells the history what one member does: it is a set of hooks, the member's handler and its logger.
type witness struct {
	member  string
	history *History
	calls   atomic.Int64
}

var (
	_ consumer.RebalanceHook  = (*witness)(nil)
	_ consumer.SessionEndHook = (*witness)(nil)
	_ consumer.CommitHook     = (*witness)(nil)
	_ consumer.ErrorHook      = (*witness)(nil)
	_ handler.ClaimStartHook  = (*witness)(nil)
	_ handler.ClaimEndHook    = (*witness)(nil)
	_ slog.Handler            = (*logWitness)(nil)
)

func (w *witness) tell(e Event) {
	e.Member = w.member
	w.history.Add(e)
}

// around tells of each call of work. There is no task hook: tasks then run as they do for users who set none.
func (w *witness) around(work handler.Func) handler.Func {
	return func(ctx context.Context, t *handler.Task) (err error) {
		at := Event{Partition: t.Partition, Offset: t.Offset, Key: string(t.Key), Call: w.calls.Add(1)}
		event := func(k Kind, err error) Event {
			e := at
			e.Kind, e.Err = k, err
			return e
		}
		w.tell(event(Started, nil))
		stop := context.AfterFunc(ctx, func() { w.tell(event(Cancelled, context.Cause(ctx))) })
		defer func() {
			stop() // before the context of the call ends by itself
			w.tell(event(Returned, err))
		}()
		return work(ctx, t)
	}
}

func (w *witness) OnRebalance(r consumer.Rebalance) {
	w.tell(Event{Kind: Assigned, Generation: r.Generation, Text: r.Assigned.String()})
}

func (w *witness) OnSessionEnd(e consumer.SessionEnd) {
	w.tell(Event{Kind: Ended, MemberID: e.MemberID, Generation: e.Generation, Err: e.Cause, Text: string(e.Kind)})
}

func (w *witness) OnCommit(c consumer.Commit) {
	k := Committed
	switch {
	case c.Dropped:
		k = Dropped
	case c.Err != nil:
		k = Refused
	}
	w.tell(Event{Kind: k, Partition: c.Partition, Offset: c.Offset, Err: c.Err})
}

func (w *witness) OnError(err error) { w.tell(Event{Kind: Troubled, Err: err}) }

func (w *witness) OnClaimStart(c handler.Claim) {
	w.tell(Event{Kind: Claimed, Partition: c.Partition})
}

func (w *witness) OnClaimEnd(e handler.ClaimEnd) {
	w.tell(Event{Kind: Released, Partition: e.Partition, Text: fmt.Sprintf("%v, abandoned %d", e.Reason, e.Abandoned)})
}

// logWitness is the member's slog.Handler.
type logWitness struct {
	*witness
	attrs []slog.Attr
}

func (l *logWitness) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

func (l *logWitness) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s", r.Level, r.Message)
	add := func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %v", a)
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	l.tell(Event{At: r.Time, Kind: Logged, Text: b.String()})
	return nil
}

func (l *logWitness) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logWitness{witness: l.witness, attrs: append(slices.Clip(l.attrs), attrs...)}
}

func (l *logWitness) WithGroup(string) slog.Handler { return l }
