package handler_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// Hurry is for sessions in whose stop nobody waits.
func (m *memberSession) Hurry() <-chan struct{} { return nil }

// hurried is a session whose member stops and then hears that others wait.
type hurried struct {
	*memberSession
	wait chan struct{}
}

func (h *hurried) Hurry() <-chan struct{} { return h.wait }

// G3: a rebalance waits for no task beyond the grace, also not for one of a member that stops and has given it more.
func TestARebalanceShortensTheGraceOfAStop(t *testing.T) {
	for name, test := range map[string]struct {
		stop, grace, after, want time.Duration
		cause                    error
	}{
		"grace":               {time.Minute, 5 * time.Second, 10 * time.Second, 15 * time.Second, handler.ErrRevoked},
		"no grace":            {time.Minute, config.NoGrace, 10 * time.Second, 10 * time.Second, handler.ErrRevoked},
		"less is left":        {12 * time.Second, 5 * time.Second, 10 * time.Second, 12 * time.Second, handler.ErrRevoked},
		"nobody waits":        {time.Minute, 5 * time.Second, time.Hour, time.Minute, handler.ErrDraining},
		"others waited first": {time.Minute, 5 * time.Second, 0, 5 * time.Second, handler.ErrRevoked},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := config.Input{Expected: time.Hour, StopGrace: test.stop, Grace: test.grace}.Plan()
				if err != nil {
					t.Fatal(err)
				}
				var cancelled time.Time
				var cause error
				g := newGroup(t, handler.Options{Plan: p}, func(ctx context.Context, _ *handler.Task) error {
					<-ctx.Done()
					cancelled, cause = time.Now(), context.Cause(ctx)
					return cause
				})
				s := &hurried{memberSession: newMemberSession(), wait: make(chan struct{})}
				s.stopping = true
				s.next() // the generation of the assignment
				g.assign(0)
				done := g.consumeIn(s, newClaim(0, 1))
				synctest.Wait()
				begin := time.Now()
				s.cancel(context.Canceled)
				ring := time.AfterFunc(test.after, func() { close(s.wait) })
				defer ring.Stop()
				<-done
				if took := cancelled.Sub(begin); took != test.want || !errors.Is(cause, test.cause) {
					t.Errorf("cancelled after %v with %v, want %v and %v", took, cause, test.want, test.cause)
				}
				g.end()
			})
		})
	}
}
