// Package retry says how long to pause before the next attempt of a failed task.
package retry

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/span"
)

const (
	// DefaultInitial is the default of [Policy].Initial.
	DefaultInitial = time.Second
	// DefaultMax is the default of [Policy].Max.
	DefaultMax = time.Minute
)

// ErrPolicy is wrapped by the errors of [Policy.Validate].
var ErrPolicy = errors.New("invalid retry policy")

// Policy is an exponential backoff with jitter: each pause is twice the one before, up to Max, less a random part of at most half,
// so that tasks that failed together are not tried again together. The zero value is the default policy. Attempts are not limited.
type Policy struct {
	// Initial is the pause after the first failure. At least 1 ms; default 1 s, or Max when that is shorter.
	Initial time.Duration
	// Max is the longest pause. At least Initial; default 1 min, or Initial when that is longer.
	Max time.Duration
}

// WithDefaults returns the policy with its zero fields filled in. It checks nothing: see [Policy.Validate].
func (p Policy) WithDefaults() Policy {
	if p.Initial == 0 {
		p.Initial = DefaultInitial
		if p.Max > 0 {
			p.Initial = min(p.Initial, p.Max)
		}
	}
	if p.Max == 0 {
		p.Max = max(DefaultMax, p.Initial)
	}
	return p
}

// Validate names the field that is out of bounds; its errors wrap [ErrPolicy].
func (p Policy) Validate() error {
	q := p.WithDefaults()
	if q.Initial < time.Millisecond {
		return fmt.Errorf("%w: Initial is %v: set at least 1ms, or 0 for %v", ErrPolicy, span.Text(p.Initial), span.Text(DefaultInitial))
	}
	if q.Max < q.Initial {
		return fmt.Errorf("%w: Max is %v, below Initial (%v): set at least that, or 0 for %v", ErrPolicy, span.Text(p.Max), span.Text(q.Initial), span.Text(DefaultMax))
	}
	return nil
}

// Delay returns the pause before the attempt that follows attempt, the first of which is 1: between half of what the policy says and
// all of it. A policy that Validate refuses gives no negative pause either. Safe for concurrent use.
func (p Policy) Delay(attempt int) time.Duration {
	q := p.WithDefaults()
	d := max(min(q.longest(attempt), q.Max), 0)
	return d - time.Duration(rand.Int64N(int64(d)/2+1)) //nolint:gosec // jitter needs no secret
}

// longest is the pause without jitter. It stops at Max and so never overflows.
func (p Policy) longest(attempt int) time.Duration {
	d := p.Initial
	for range attempt - 1 {
		if d <= 0 || d > p.Max/2 {
			return p.Max
		}
		d *= 2
	}
	return d
}
