package handler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// asking is a member whose broker takes a minute for one of its answers.
type asking func(m *memberSession)

func slowly(context.Context) { time.Sleep(time.Minute) }

var askings = map[string]asking{
	"the commit is read":     func(m *memberSession) { m.ask = slowly },
	"the stamp is written":   func(m *memberSession) { m.store = slowly },
	"both":                   func(m *memberSession) { m.ask, m.store = slowly, slowly },
	"an old answer is given": func(m *memberSession) { m.stored = -1 },
}

// D1: a claim takes its messages also while it waits for the broker, up to its bound, for a fetcher waits for all of its partitions. They
// are handled afterwards, each once and in their order.
func TestAClaimReceivesWhileItAsks(t *testing.T) {
	for name, ask := range askings {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				o := options(t)
				o.Plan.BacklogMessages = 20
				g, m, c := claimAt(t, o, nothing, 10, 0, "")
				ask(m)
				g.consumeIn(m, c)
				synctest.Wait()
				if n := len(c.messages); n != 0 || c.isPaused() {
					t.Errorf("%d messages wait in the channel, paused %v", n, c.isPaused())
				}
				c.put(10, 30)
				synctest.Wait()
				if n := len(c.messages); n != 0 || !c.isPaused() || g.seen.count() != 0 {
					t.Errorf("%d messages wait in the channel, paused %v, %d started", n, c.isPaused(), g.seen.count())
				}
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				if got := g.seen.all(); len(got) != 30 || !inOrder(got) || c.isPaused() {
					t.Errorf("started %v, paused %v", got, c.isPaused())
				}
				g.wantCommitted(0, 30)
				g.end()
			})
		})
	}
}

func inOrder(offsets []int64) bool {
	for i, o := range offsets {
		if o != int64(i) {
			return false
		}
	}
	return true
}

// A closed channel is heard there too, and ends the question.
func TestRevocationIsHeardWhileAClaimAsks(t *testing.T) {
	until := func(ctx context.Context) { <-ctx.Done() }
	for name, ask := range map[string]asking{
		"the commit is read":   func(m *memberSession) { m.ask = until },
		"the stamp is written": func(m *memberSession) { m.store = until },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				g, m, c := claimAt(t, options(t), nothing, 3, 0, "")
				ask(m)
				done := g.consumeIn(m, c)
				synctest.Wait()
				close(c.messages)
				if took := elapsed(func() { <-done }); took != 0 {
					t.Errorf("the claim ended after %v", took)
				}
				g.wantStarted()
				g.end()
			})
		})
	}
}

// An adoption asks too. What comes meanwhile lies behind what goes on.
func TestAnAdoptionReceivesWhileItAsks(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		r := begin(t, ordered(t, order, 1), false, deaf(time.Hour), "a", "b", "a")
		time.Sleep(time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.member.ask = slowly
		r.assign(0)
		r.start()
		if n := len(r.claim.messages); n != 0 {
			t.Errorf("%d messages wait in the channel", n)
		}
		time.Sleep(4 * time.Hour)
		r.wantStarted(0, 1, 2)
		r.wantCommitted(0, 3)
		if s := r.Status().Claims[0]; s.Backlog != 0 || s.Bytes != 0 {
			t.Errorf("the claim counts %d messages, %d bytes", s.Backlog, s.Bytes)
		}
		r.group.end()
	})
}

// Where nothing can be taken over, what came meanwhile begins the claim.
func TestAFailedAdoptionBeginsWithWhatCame(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		r := begin(t, ordered(t, order, 1), false, obedient(time.Hour), "a", "b", "a")
		time.Sleep(time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.member.ask, r.member.text = slowly, ""
		r.assign(0)
		r.start()
		time.Sleep(4 * time.Hour)
		r.wantStarted(0, 0, 1, 2)
		r.wantCommitted(0, 3)
		r.group.end()
	})
}
