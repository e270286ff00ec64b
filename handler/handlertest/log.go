package handlertest

import (
	"io"
	"log/slog"
	"sync"
	"testing"
)

// output writes to a test's log until the test is over: a task that outlives its test must not make it panic.
type output struct {
	mu sync.Mutex
	w  io.Writer
}

func newLogger(tb testing.TB) *slog.Logger {
	tb.Helper()
	out := &output{w: tb.Output()}
	tb.Cleanup(out.close)
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.w = io.Discard
}
