package handler_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// rejoining is a member whose partition 0 comes back in session after session.
type rejoining struct {
	*group
	t      *testing.T
	member *memberSession // nil over a plain session
	log    []*sarama.ConsumerMessage
	claim  *claim
	done   <-chan struct{}
	from   int64    // where the next claim starts
	before *session // the one that has ended
}

// begin claims the partition in a first session. Over a plain session the claim starts at a commit.
func begin(t *testing.T, o handler.Options, plain bool, f handler.Func, keys ...string) *rejoining {
	t.Helper()
	r := &rejoining{group: newGroup(t, o, f), t: t}
	for i, k := range keys {
		r.log = append(r.log, &sarama.ConsumerMessage{Topic: topic, Offset: int64(i), Key: []byte(k), Value: []byte("v"), Timestamp: time.Unix(int64(i), 0)})
	}
	if !plain {
		r.member = newMemberSession()
		r.group.s = r.member.session
	}
	r.assign(0)
	r.start()
	return r
}

// start claims the partition: the broker delivers from what is committed.
func (r *rejoining) start() {
	r.claim = newClaim(0, 0)
	r.claim.initial, r.claim.end = r.from, int64(len(r.log))
	for _, m := range r.log {
		if m != nil && m.Offset >= r.from {
			again := *m
			r.claim.messages <- &again
		}
	}
	if r.member != nil {
		r.done = r.consumeIn(r.member, r.claim)
	} else {
		r.done = r.consume(r.claim)
	}
	synctest.Wait()
}

// end ends the session as an eager rebalance does.
func (r *rejoining) endSession(cause error) {
	r.s.cancel(cause)
	<-r.done
	_ = r.Cleanup(r.s) // always nil
	r.from = max(r.s.committed(0), r.from)
	r.before = r.s
	fresh := newSession()
	fresh.marked, fresh.generation = map[int32]int64{0: r.from}, r.s.GenerationID()
	if r.member != nil {
		next := newMemberSession()
		next.work, next.stopWork = r.member.work, r.member.stopWork
		next.stored, next.text = r.from, cmp.Or(r.s.lastText(), r.member.text)
		next.session, r.member = fresh, next
	}
	r.s = fresh
}

// rejoin brings the partition back in the next generation.
func (r *rejoining) rejoin() {
	r.endSession(sarama.ErrRebalanceInProgress)
	r.assign(0)
	r.start()
}

func eachKind(t *testing.T, test func(t *testing.T, order handler.Order, plain bool)) {
	t.Helper()
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		for _, plain := range []bool{false, true} {
			name := order.String() + map[bool]string{true: ", plain session", false: ""}[plain]
			t.Run(name, func(t *testing.T) { inVirtualTime(t, func(t *testing.T) { test(t, order, plain) }) })
		}
	}
}

// G4: a task goes on when its partition comes back, and its result is committed by the new claim. Through any number of generations.
func TestTaskOutlivesThreeGenerations(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		r := begin(t, ordered(t, order, 2), plain, deaf(time.Hour), "a", "a", "a")
		for range 3 {
			time.Sleep(10 * time.Minute)
			r.rejoin()
		}
		if s := r.Status(); s.Running != len(r.seen.all()) || s.Stray != 0 || s.Kept != 0 {
			t.Errorf("after three rebalances %+v", s)
		}
		time.Sleep(31 * time.Minute)
		want := map[handler.Order]int64{handler.ByPartition: 1, handler.ByKey: 1, handler.None: 2}[order]
		r.wantCommitted(0, want)
		time.Sleep(3 * time.Hour)
		r.wantCommitted(0, 3)
		if n := r.seen.count(); n != 3 {
			t.Errorf("%d starts of 3 messages", n)
		}
		r.group.end()
	})
}

// What ends between two claims counts for the next one, at once where the commit has an answer.
func TestTaskThatEndsBetweenTwoClaimsCounts(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		r := begin(t, ordered(t, order, 2), plain, deaf(time.Hour), "a", "b")
		time.Sleep(time.Hour - 10*time.Second)
		r.endSession(sarama.ErrRebalanceInProgress)
		time.Sleep(20 * time.Second)
		r.assign(0)
		if !plain {
			r.from = r.before.committed(0)
			r.member.stored, r.member.text = r.from, r.before.lastText()
		}
		r.start()
		time.Sleep(2 * time.Hour)
		r.wantCommitted(0, 2)
		if n := r.seen.count(); n != 2 {
			t.Errorf("%d starts of 2 messages", n)
		}
		r.group.end()
	})
}

// untilCancelled is a task that ends well when its context does, and tells the cause.
func untilCancelled(cause *error) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		<-ctx.Done()
		*cause = context.Cause(ctx)
		return nil
	}
}

// G5: when the partition goes elsewhere, its tasks are cancelled at once, and what they return is dropped and counted.
func TestTaskOfAPartitionThatGoesElsewhereIsCancelled(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		var cancelled error
		r := begin(t, ordered(t, order, 1), plain, untilCancelled(&cancelled), "a")
		time.Sleep(time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		time.Sleep(10 * time.Second)
		if s := r.Status(); s.Kept != 1 || s.Running != 1 {
			t.Errorf("between two sessions %+v", s)
		}
		r.assign(1)
		synctest.Wait()
		if !errors.Is(cancelled, handler.ErrRevoked) {
			t.Errorf("cancelled with %v", cancelled)
		}
		r.wantCommitted(0, 0)
		if s := r.Status(); s.Strays != 1 || s.Running != 0 || s.Kept != 0 {
			t.Errorf("status %+v", s)
		}
		r.group.end()
	})
}

// G5: a task that was adopted, and adopted again, ends with the claim that has it now, whatever ends that one.
func TestAdoptedTasksEndWithTheirClaim(t *testing.T) {
	for name, end := range map[string]func(r *rejoining){
		"revoked": func(r *rejoining) {
			r.assign(1)
			close(r.claim.messages)
		},
		"moved between two sessions": func(r *rejoining) {
			r.endSession(sarama.ErrRebalanceInProgress)
			r.assign(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
				wantAdoptedCancelled(t, ordered(t, order, 1), plain, end, handler.ErrRevoked)
			})
		})
	}
	for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		t.Run("lease over/"+order.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				end := func(r *rejoining) { r.member.stopWork(handler.ErrLost) }
				wantAdoptedCancelled(t, ordered(t, order, 1), false, end, handler.ErrLost)
			})
		})
	}
}

func wantAdoptedCancelled(t *testing.T, o handler.Options, plain bool, end func(r *rejoining), want error) {
	t.Helper()
	var cause error
	r := begin(t, o, plain, untilCancelled(&cause), "a")
	for range 2 {
		time.Sleep(time.Minute)
		r.rejoin()
	}
	if s := r.Status(); cause != nil || s.Running != 1 || s.Kept != 0 {
		t.Fatalf("adopted twice: cancelled with %v, %+v", cause, s)
	}
	end(r)
	synctest.Wait()
	if !errors.Is(cause, want) {
		t.Errorf("cancelled with %v, want %v", cause, want)
	}
	r.group.end()
}

// Adopted tasks hold their key; other keys go on.
func TestAdoptedTaskHoldsItsKey(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, ordered(t, handler.ByKey, 9), false, func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 {
				return deaf(2*time.Hour)(ctx, m)
			}
			return nil
		}, "a", "b", "a", "c", "b")
		time.Sleep(time.Minute)
		r.rejoin()
		if got := r.seen.all(); slices.Contains(got, 2) || len(got) != 4 {
			t.Errorf("started %v while 0 of the same key as 2 runs", got)
		}
		time.Sleep(2 * time.Hour)
		if got := r.seen.all(); len(got) != 5 || got[4] != 2 {
			t.Errorf("started %v", got)
		}
		r.wantCommitted(0, 5)
		r.group.end()
	})
}

// A task whose message is no longer in the log is adopted all the same, and what waited and is gone does not hold the commit up.
func TestAdoptionDoesNotNeedTheMessages(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		r := begin(t, ordered(t, order, 1), plain, deaf(time.Hour), "a", "a", "a", "a")
		time.Sleep(time.Minute)
		r.log[0], r.log[2] = nil, nil // compacted
		r.rejoin()
		time.Sleep(5 * time.Hour)
		r.wantStarted(0, 1, 3)
		r.wantCommitted(0, 4)
		r.group.end()
	})
}

// A task that fails after its adoption is tried again, and its message is not run twice at once.
func TestAdoptedTaskThatFailsIsTriedAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		o := ordered(t, order, 3)
		o.Retry.Initial, o.Retry.Max = time.Hour, time.Hour
		r := begin(t, o, plain, func(context.Context, *handler.Task) error {
			time.Sleep(10 * time.Minute)
			return errTask
		}, "a", "a")
		time.Sleep(time.Minute)
		r.rejoin()
		time.Sleep(9*time.Minute + 30*time.Second)
		if s := r.Status(); s.Failed == 0 || s.Claims[0].Backlog != 2 || !s.Claims[0].Retrying {
			t.Errorf("%+v", s)
		}
		want := map[handler.Order]int{handler.ByPartition: 2, handler.ByKey: 2, handler.None: 4}[order]
		time.Sleep(time.Hour)
		if got := r.seen.all(); len(got) != want || !slices.Contains(got[1:], 0) {
			t.Errorf("started %v", got)
		}
		r.group.end()
	})
}

// A claim that is revoked before it has proven that nobody else had the partition leaves the tasks to the next one.
func TestRevocationDuringAdoptionLeavesTheTasks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, options(t), false, deaf(time.Hour), "a")
		time.Sleep(time.Minute)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.member.ask = func(ctx context.Context) { <-ctx.Done() }
		r.assign(0)
		r.start()
		r.rejoin()
		time.Sleep(2 * time.Hour)
		r.wantStarted(0)
		r.wantCommitted(0, 1)
		r.group.end()
	})
}

// A short task has its grace first: where it ends in it, nothing is left to adopt, wherever the partition goes.
func TestShortTasksEndInTheGrace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		o := with(t, config.Input{Expected: time.Second, Eager: true})
		r := begin(t, o, false, deaf(time.Second), "a")
		time.Sleep(500 * time.Millisecond)
		r.endSession(sarama.ErrRebalanceInProgress)
		r.wantCommitted(0, 1)
		if s := r.Status(); s.Kept != 0 || s.Succeeded != 1 {
			t.Errorf("%+v", s)
		}
		r.group.end()
	})
}

// An assignment is heard a moment before the session knows its generation: a session that ends in between may come back all the same.
func TestTasksAreKeptWhenASessionEndsInARound(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		r := begin(t, options(t), false, deaf(time.Hour), "a")
		time.Sleep(time.Minute)
		r.strategy.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{topic: {0}}}, r.s.GenerationID()+1)
		r.rejoin()
		time.Sleep(time.Hour)
		r.wantStarted(0)
		r.wantCommitted(0, 1)
		r.group.end()
	})
}

// An assignment of zero bytes is told to the session alone: what ran for partitions that it does not contain ends with its Setup.
func TestASessionWithoutThePartitionEndsItsTasks(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		var cancelled error
		r := begin(t, ordered(t, order, 1), plain, untilCancelled(&cancelled), "a")
		setUp := func() {
			if err := r.Setup(r.s); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		setUp()
		r.endSession(sarama.ErrRebalanceInProgress)
		setUp()
		if cancelled != nil {
			t.Errorf("cancelled with %v by a session of the same generation", cancelled)
		}
		r.s.next()
		setUp()
		if !errors.Is(cancelled, handler.ErrRevoked) {
			t.Errorf("cancelled with %v", cancelled)
		}
		if s := r.Status(); s.Strays != 1 || s.Kept != 0 {
			t.Errorf("status %+v", s)
		}
		r.group.end()
	})
}

// A task that is taken over is still the attempt that it was.
func TestATaskThatIsTakenOverKeepsItsNumber(t *testing.T) {
	eachKind(t, func(t *testing.T, order handler.Order, plain bool) {
		var ends taskEnds
		o := ordered(t, order, 1)
		o.Hooks = []any{&ends}
		failed := false
		r := begin(t, o, plain, func(ctx context.Context, m *handler.Task) error {
			if !failed {
				failed = true
				return errTask
			}
			return deaf(time.Hour)(ctx, m)
		}, "a")
		time.Sleep(time.Minute)
		r.rejoin()
		if c := r.Status().Claims[0]; len(c.Tasks) != 1 || c.Tasks[0].Attempt != 2 {
			t.Errorf("claim %+v", c)
		}
		time.Sleep(time.Hour)
		if e := ends.all(); len(e) != 2 || e[1].Outcome != handler.Succeeded || e[1].Attempt != 2 {
			t.Errorf("ends %+v", e)
		}
		r.group.end()
	})
}
