package link

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStillClosing is returned by [Link.Close] when something did not end in time. It goes on ending in the background.
var ErrStillClosing = errors.New("link: connections are still closing")

// life owns the goroutines of a Link.
type life struct {
	ctx  context.Context
	stop context.CancelFunc

	mu   sync.Mutex
	over bool
	wg   sync.WaitGroup
}

func newLife() *life {
	ctx, stop := context.WithCancel(context.Background())
	return &life{ctx: ctx, stop: stop}
}

// run starts f, which has to end soon after ctx does. It reports false, and does not start f, when the life is over: a WaitGroup
// must not grow from zero while somebody waits for it.
func (l *life) run(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.wg.Go(f)
	return true
}

// end starts last and lets nothing start after it. It reports false when the life was over already.
func (l *life) end(last func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	l.stop()
	l.wg.Go(last)
	return true
}

func (l *life) wait(limit time.Duration) error {
	all := make(chan struct{})
	// Ends with the last goroutine of the life.
	go func() {
		l.wg.Wait()
		close(all)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-all:
		return nil
	case <-timer.C:
		return ErrStillClosing
	}
}
