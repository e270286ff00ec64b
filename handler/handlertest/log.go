package handlertest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
)

// repetitions is how often an entry about one message is written. A handler that always fails would fill the log: in a synctest bubble
// tens of thousands of attempts take no time.
const repetitions = 10

// output writes to a test's log until the test is over: a task that outlives its test must not make it panic.
type output struct {
	mu    sync.Mutex
	w     io.Writer
	times map[entry]int
}

// entry is what makes two entries the same one again.
type entry struct{ text, topic, partition, offset string }

func newLogger(tb testing.TB) *slog.Logger {
	tb.Helper()
	out := &output{w: tb.Output(), times: map[entry]int{}}
	tb.Cleanup(out.close)
	return slog.New(sparing{slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo}), out, entry{}})
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// due counts an entry, and says whether it is still written.
func (o *output) due(e entry) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.times[e]++
	return o.times[e] <= repetitions
}

// close tells how much was left out.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range slices.SortedFunc(maps.Keys(o.times), compare) {
		if left := o.times[e] - repetitions; left > 0 {
			_, _ = fmt.Fprintf(o.w, "%d more entries %q for %s/%s@%s\n", left, e.text, e.topic, e.partition, e.offset)
		}
	}
	o.w = io.Discard
}

func compare(a, b entry) int {
	return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition), cmp.Compare(len(a.offset), len(b.offset)),
		cmp.Compare(a.offset, b.offset), cmp.Compare(a.text, b.text))
}

// sparing writes the first repetitions of an entry about a message. What is about no message is always written.
type sparing struct {
	slog.Handler
	out   *output
	about entry
}

// Handle implements slog.Handler.
func (s sparing) Handle(ctx context.Context, r slog.Record) error {
	e := s.about
	e.text = r.Message
	r.Attrs(func(a slog.Attr) bool {
		e.note(a)
		return true
	})
	if e.offset != "" && !s.out.due(e) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (s sparing) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		s.about.note(a)
	}
	s.Handler = s.Handler.WithAttrs(attrs)
	return s
}

// WithGroup implements slog.Handler.
func (s sparing) WithGroup(name string) slog.Handler {
	s.Handler = s.Handler.WithGroup(name)
	return s
}

func (e *entry) note(a slog.Attr) {
	switch a.Key {
	case "topic":
		e.topic = a.Value.String()
	case "partition":
		e.partition = a.Value.String()
	case "offset":
		e.offset = a.Value.String()
	}
}
