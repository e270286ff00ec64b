package consumer

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 10 * time.Second
	// calm is how long a session has to last for the pauses to start small again.
	calm = 30 * time.Second
)

// backoff counts tries that failed one after another, and the pause that follows from it.
type backoff struct {
	tries    int
	refusals int // answers of no, see link.Refused
	told     repeats
}

// reset forgets the tries, not what was told: a failure that comes again and again between good sessions is no news either.
func (b *backoff) reset() { b.tries, b.refusals = 0, 0 }

// next is the pause before the next try: it doubles up to 10 s, and a random part of at most half is taken off, so that members
// that lost their brokers together do not come back together.
func (b *backoff) next() time.Duration {
	d := min(shortestPause<<min(b.tries, 8), longestPause)
	b.tries++
	return d - rand.N(d/2) //nolint:gosec // jitter needs no secret
}

// tryLater says what went wrong and waits for the next try, at most until ctx ends. It returns the error when no try may help. The same
// failure is a warning at most every half minute, with more about it, and an entry at level debug in between; hooks hear of each.
func (c *Consumer) tryLater(ctx context.Context, b *backoff, text string, err error, more ...slog.Attr) (fatal error) {
	if over(ctx) {
		return nil // our own doing
	}
	if fatal := c.judge(err, b); fatal != nil {
		return fatal
	}
	d := b.next()
	attrs := append([]slog.Attr{slog.Any("error", err), slog.Int("try", b.tries), slog.Duration("retry_in", d)}, more...)
	level := slog.LevelDebug
	kept, due := b.told.due(text + " " + class(err))
	if due {
		level = slog.LevelWarn
	}
	c.log.LogAttrs(ctx, level, text, withRepeated(attrs, kept)...)
	c.hooks.failed(err)
	c.watched.trouble(err)
	_ = link.Sleep(ctx, d)
	return nil
}

func over(ctx context.Context) bool { return ctx.Err() != nil }
