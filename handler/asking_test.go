package handler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/offset"
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

// What turns out to be in hand, or finished, when the answer has come takes no room any more: the claim goes on fetching.
func TestWhatNeedNotRunTakesNoRoom(t *testing.T) {
	for name, test := range map[string]struct {
		messages int64
		size     int
		task     func(o int64) time.Duration
	}{
		"two large ones run":              {2, 2500, func(int64) time.Duration { return 5 * time.Hour }},
		"many are finished behind a slow": {10_500, 1, func(o int64) time.Duration { return time.Duration(max(0, 1-o)) * 5 * time.Hour }},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				o := ordered(t, handler.None, 10)
				o.Plan.BacklogBytes = 4000
				r := begin(t, o, false, func(ctx context.Context, m *handler.Task) error { return deaf(test.task(m.Offset))(ctx, m) })
				for o := range test.messages {
					r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: o, Value: make([]byte, test.size)})
				}
				r.feed()
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				r.member.ask = slowly
				r.assign(0)
				r.claim = newClaim(0, 0)
				r.claim.initial, r.claim.end = r.from, test.messages
				r.done = r.consumeIn(r.member, r.claim)
				r.feed()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				running := r.Status().Running
				if s := r.Status().Claims[0]; r.claim.isPaused() || s.Backlog != running || s.Bytes != int64(running*test.size) {
					t.Errorf("paused %v with %d running: %d messages, %d bytes", r.claim.isPaused(), running, s.Backlog, s.Bytes)
				}
				time.Sleep(10 * time.Hour)
				r.wantCommitted(0, test.messages)
				r.group.end()
			})
		})
	}
}

// feed delivers the log from where the claim starts.
func (r *rejoining) feed() {
	for _, m := range r.log[r.claim.initial:] {
		again := *m
		r.claim.messages <- &again
	}
}

// A coordinator that has just taken over may give an old answer at an adoption too: that is no other owner's stamp.
func TestAnOldAnswerEndsNoTask(t *testing.T) {
	for name, old := range map[string]func(m *memberSession){
		"nothing was committed": func(m *memberSession) { m.stored, m.text = -1, "" },
		"another owner's": func(m *memberSession) {
			m.text = offset.State{Stamp: offset.Stamp{Owner: 1, Count: 5}, Next: m.stored}.Encode(4096)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				r := begin(t, options(t), false, deaf(time.Hour), "a")
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				stored, text, since := r.member.stored, r.member.text, time.Now()
				m := r.member
				m.ask = func(context.Context) {
					if old(m); time.Since(since) > 700*time.Millisecond {
						m.stored, m.text = stored, text
					}
				}
				r.assign(0)
				r.start()
				time.Sleep(5 * time.Hour)
				r.wantStarted(0)
				r.wantCommitted(0, 1)
				r.group.end()
			})
		})
	}
}
