package handler_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// E3: a claim that goes on through a missed generation, as one of a cooperative session does, looks whether somebody else has had the
// partition. Then it is lost, and nothing is committed over the other one's progress; else it goes on. Meanwhile nothing starts.
func TestAMissedGenerationUnderAClaim(t *testing.T) {
	for name, test := range map[string]struct {
		text   string // of the commit then
		unread error
		lost   bool
	}{
		"nobody has had it": {"", nil, false},
		"somebody has":      {"consumer-1@host", nil, true},
		"nobody knows":      {"", sarama.ErrGroupAuthorizationFailed, true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				var cause error
				r := begin(t, ordered(t, handler.None, 2), false, func(ctx context.Context, m *handler.Task) error {
					if m.Offset != 1 {
						return deaf(time.Minute)(ctx, m)
					}
					select {
					case <-ctx.Done():
						cause = context.Cause(ctx)
					case <-time.After(2 * time.Hour):
					}
					return nil
				}, "a", "b", "c")
				r.member.stored, r.member.text = 0, r.s.lastText()
				if test.text != "" {
					r.member.text = test.text
				}
				if test.unread != nil {
					r.member.unread = []error{test.unread}
				}
				r.member.ask = func(context.Context) { time.Sleep(90 * time.Second) }
				r.s.next()
				r.assign(0)
				time.Sleep(time.Minute + time.Second)
				if n := r.seen.count(); n != 2 { // in any order
					t.Errorf("%d starts before anybody knew", n)
				}
				time.Sleep(40 * time.Minute)
				synctest.Wait()
				if lost := errors.Is(cause, handler.ErrLost); lost != test.lost {
					t.Errorf("cancelled with %v", cause)
				}
				want := map[bool]int64{true: 0, false: 1}[test.lost]
				r.wantCommitted(0, want)
				if n := r.seen.count(); n != 2+int(want) {
					t.Errorf("%d starts", n)
				}
				time.Sleep(3 * time.Hour)
				r.assign(1)
				r.group.end()
			})
		})
	}
}
