package handler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// deafBroker makes the broker store and answer nothing from now on. The returned function makes the next session see that.
func (r *rejoining) deafBroker() (forget func()) {
	stored, text := r.s.committed(0), r.s.lastText()
	r.member.settle = func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return func() {
		r.from, r.member.stored, r.member.text = stored, stored, text
		r.s.marked[0] = stored
	}
}

func eachOrder(t *testing.T, test func(t *testing.T, order handler.Order)) {
	t.Helper()
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		t.Run(order.String(), func(t *testing.T) { inVirtualTime(t, func(t *testing.T) { test(t, order) }) })
	}
}

// A task that has ended, and whose commit had no answer when the session ended, is not run again when the partition comes back: what it
// has finished is known here, whatever the broker has stored.
func TestWhatHadNoAnswerIsNotRunAgain(t *testing.T) {
	eachOrder(t, func(t *testing.T, order handler.Order) {
		r := begin(t, ordered(t, order, 1), false, deaf(time.Minute), "a", "b")
		forget := r.deafBroker()
		time.Sleep(3 * time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		forget()
		r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: 2, Key: []byte("a")})
		r.assign(0)
		r.start()
		r.wantCommitted(0, 2)
		time.Sleep(10 * time.Minute)
		r.wantStarted(0, 1, 2)
		r.wantCommitted(0, 3)
		r.group.end()
	})
}

// Another owner in between has run it, or will: then the broker's word counts.
func TestWhatHadNoAnswerRunsAgainInDoubt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, options(t), false, deaf(time.Minute), "a")
		forget := r.deafBroker()
		time.Sleep(2 * time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		forget()
		r.member.text = ""
		r.assign(0)
		r.start()
		time.Sleep(10 * time.Minute)
		r.wantStarted(0, 0)
		if told := r.logs.with("level=WARN", "it runs again"); len(told) != 1 {
			t.Errorf("the log says %v", told)
		}
		r.group.end()
	})
}

// A claim whose commits are answered has nothing to linger for.
func TestNothingLingersWithoutAReason(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, options(t), false, deaf(time.Minute), "a")
		time.Sleep(2 * time.Minute)
		released := false
		r.member.release = func(context.Context) { released = true }
		r.endSession(sarama.ErrRebalanceInProgress)
		if !released {
			t.Error("the claim goes on")
		}
		r.group.end()
	})
}

// An account that lingers alone ends as tasks would, and nobody is told of tasks.
func TestAnAccountAloneEndsWithTheOwnership(t *testing.T) {
	for name, end := range map[string]func(r *rejoining){
		"the partition goes elsewhere": func(r *rejoining) { r.assign(1) },
		"the membership is lost":       func(r *rejoining) { r.member.stopWork(handler.ErrLost) },
		"the member stops":             func(r *rejoining) { r.member.stopWork(handler.ErrDraining) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				r := begin(t, options(t), false, deaf(time.Minute), "a")
				r.deafBroker()
				time.Sleep(2 * time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				end(r) // a loop that went on would keep the bubble from ending
				time.Sleep(time.Second)
				synctest.Wait()
				if told := r.logs.with("cancelled"); len(told) > 0 {
					t.Errorf("no task ran, and the log says %v", told)
				}
				r.group.end()
			})
		})
	}
}

// apart are two tasks at once, of which the second ends while the loop is at the commit of the first.
func apart(d time.Duration) handler.Func {
	return func(ctx context.Context, m *handler.Task) error {
		return deaf(d+time.Duration(m.Offset)*time.Second/2)(ctx, m)
	}
}

// A task that ends in the grace while the loop is busy counts too, where the commit before has been answered.
func TestWhatEndsWhileTheLoopIsBusyIsNotRunAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := with(t, config.Input{Expected: 3 * time.Second, Eager: true})
		o.Order, o.Slots = handler.None, 2
		r := begin(t, o, false, apart(10*time.Second), "a", "b")
		forget := r.deafBroker()
		r.s.slowMarks(time.Second)
		deaf := r.member.settle
		r.member.settle = func(ctx context.Context) error {
			if r.s.committed(0) < 2 {
				return nil
			}
			return deaf(ctx)
		}
		time.Sleep(5 * time.Second)
		r.endSession(sarama.ErrRebalanceInProgress)
		forget()
		r.assign(0)
		r.start()
		time.Sleep(10 * time.Minute)
		if n := r.seen.count(); n != 2 {
			t.Errorf("%d starts of 2 messages", n)
		}
		r.wantCommitted(0, 2)
		r.group.end()
	})
}

// A claim that was revoked before its stamp was stored has finished nothing.
func TestAStampWithoutAnAnswerIsNothingToAccountFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		g := newGroup(t, options(t), deaf(time.Minute))
		m := newMemberSession()
		g.s = m.session
		r := &rejoining{group: g, t: t, member: m, log: []*sarama.ConsumerMessage{{Topic: topic}}}
		m.store = func(ctx context.Context) { <-ctx.Done() }
		r.assign(0)
		r.start()
		r.deafBroker()
		r.rejoin()
		time.Sleep(10 * time.Minute)
		r.wantStarted(0)
		if told := r.logs.with("level=WARN"); len(told) > 0 {
			t.Errorf("the log says %v", told)
		}
		r.group.end()
	})
}

// A task that ends between two sessions before the member stops is committed before the member leaves. Where the loop finds both at once,
// Go picks at random what it sees first.
func TestWhatEndsAtAStopBetweenTwoSessionsIsCommitted(t *testing.T) {
	for range 20 {
		inVirtualTime(t, func(t *testing.T) {
			r := begin(t, ordered(t, handler.None, 2), false, apart(time.Hour), "a", "b")
			var given time.Duration
			r.member.release = func(ctx context.Context) {
				until, _ := ctx.Deadline()
				given = time.Until(until)
			}
			time.Sleep(time.Minute)
			r.endSession(sarama.ErrRebalanceInProgress)
			r.before.slowMarks(time.Second)
			if err := r.Wait(t.Context()); err != nil { // as a stop does
				t.Error(err)
			}
			r.member.stopWork(handler.ErrDraining)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if got := r.before.committed(0); got != 2 || given <= 0 {
				t.Errorf("committed %d, with %v for the answer", got, given)
			}
			r.group.end()
		})
	}
}

// A claim of which tasks go on waits for the commit of those that have finished: the partition may go elsewhere.
func TestAClaimThatLingersHasCommittedWhatHasFinished(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, ordered(t, handler.None, 2), false, apart(10*time.Minute), "a", "b")
		var settled int64 = -1
		r.member.settle = func(context.Context) error {
			settled = r.s.committed(0)
			return nil
		}
		time.Sleep(10*time.Minute + time.Second/4)
		r.endSession(sarama.ErrRebalanceInProgress)
		if settled != 1 {
			t.Errorf("the claim has waited for the answer to %d, want 1", settled)
		}
		r.assign(1)
		r.group.end()
	})
}

// Tasks that are cancelled by a stop between two sessions have the time to return that those of a claim have, and what they return counts.
func TestAStopBetweenTwoSessionsLetsTasksWindDown(t *testing.T) {
	for name, test := range map[string]struct {
		grace, task time.Duration
		cancelFirst bool
		want        int64
	}{
		"cancelled at the end of the grace":  {time.Minute, 900 * time.Millisecond, false, 1},
		"cancelled at its start":             {time.Minute, 50 * time.Second, true, 1},
		"it takes longer than there is time": {time.Minute, 2 * time.Second, false, 0},
		"longer than the grace":              {time.Minute, 61 * time.Second, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				o := options(t)
				o.Plan.StopGrace, o.Plan.StopCancelFirst = test.grace, test.cancelFirst
				r := begin(t, o, false, func(ctx context.Context, _ *handler.Task) error {
					<-ctx.Done()
					time.Sleep(test.task)
					return nil
				}, "a")
				time.Sleep(time.Minute)
				r.endSession(sarama.ErrRebalanceInProgress)
				r.member.stopWork(handler.ErrDraining)
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if got := r.before.committed(0); got != test.want {
					t.Errorf("committed %d, want %d: %+v", got, test.want, r.Status().Counts)
				}
				r.group.end()
			})
		})
	}
}
