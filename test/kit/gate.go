package kit

import (
	"context"
	"sync"

	"github.com/evenkeel-go/evenkeel/handler"
)

// Gate makes tasks last until the test lets them end: the length of a task is then no matter of clocks. A task that comes to an open
// gate ends at once. Safe for concurrent use.
type Gate struct {
	open chan struct{}
	once sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{})} }

// Open lets all tasks end, now and later.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// Opened is closed once the gate is open.
func (g *Gate) Opened() <-chan struct{} { return g.open }

// Hold is a well-behaved handler: it waits for the gate and returns at once when its context ends.
func (g *Gate) Hold(ctx context.Context, _ *handler.Task) error {
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Ignore is a stubborn handler: it waits for the gate alone.
func (g *Gate) Ignore(context.Context, *handler.Task) error {
	<-g.open
	return nil
}
