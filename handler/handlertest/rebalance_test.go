package handlertest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/handlertest"
)

func TestRevokedTaskIsCancelledAndComesAgain(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		causes := make(chan error, 10)
		work := handler.Func(func(ctx context.Context, task *handler.Task) error {
			err := sleep(time.Hour)(ctx, task)
			if err != nil {
				causes <- err
			}
			return err
		})
		run := handlertest.New(t, work, handlertest.Options{})
		run.Deliver(message(0, "a"), message(0, "b"))
		run.WantStarted(topic, 0, 0)
		run.Revoke(how)
		if cause := <-causes; !errors.Is(cause, handler.ErrRevoked) {
			t.Errorf("the task was cancelled with %v, want %v", cause, handler.ErrRevoked)
		}
		run.WantStarted(topic, 0, 0)
		run.Assign(topic, 0)
		run.WaitIdle()
		run.WantStarted(topic, 0, 0, 0, 1)
		run.WantCommitted(topic, 0, 2)
	})
}

func TestDeliveredWhileRevokedWaitsForAssign(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		run := handlertest.New(t, sleep(time.Second), handlertest.Options{})
		run.Deliver(message(0, "a"))
		run.WaitIdle()
		run.Revoke(how)
		run.Deliver(message(0, "b"))
		time.Sleep(time.Hour)
		run.WantStarted(topic, 0, 0)
		run.Assign(topic, 0)
		run.WantCommitted(topic, 0, 2)
		run.WantStarted(topic, 0, 0, 1)
	})
}

// Under cooperative the session lives on, under eager a new one begins.
func TestSessionOutlivesCooperativeRevocation(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		ends := make(endings, 10)
		run := handlertest.New(t, sleep(time.Second), handlertest.Options{Hooks: []any{ends}})
		run.Deliver(message(0, "a"))
		run.WaitIdle()
		run.Revoke(how)
		e := <-ends
		if e.Reason != handler.Rebalance || (e.Cause == nil) != (how == handlertest.Cooperative) {
			t.Errorf("claim ended for %v, session's cause %v", e.Reason, e.Cause)
		}
	})
}

// endings hears ends of claims.
type endings chan handler.ClaimEnd

func (c endings) OnClaimEnd(e handler.ClaimEnd) { c <- e }

func TestLostMembershipCommitsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(endings, 1)
		run := handlertest.New(t, sleep(time.Hour), handlertest.Options{Hooks: []any{ends}})
		run.Deliver(message(0, "a"))
		run.WantStarted(topic, 0, 0)
		run.WantCommitted(topic, 0, 0) // the start of the partition
		run.Revoke(handlertest.Lost)
		if e := <-ends; e.Reason != handler.Lost || !errors.Is(e.Cause, sarama.ErrUnknownMemberId) {
			t.Errorf("claim ended for %v, cause %v", e.Reason, e.Cause)
		}
		run.WantCommitted(topic, 0, 0)
	})
}

// What is marked at the end is committed, unless the broker has removed the member.
func TestLastMarksAreCommittedUnlessLost(t *testing.T) {
	for how, want := range map[handlertest.Revocation]int64{handlertest.Eager: 1, handlertest.Cooperative: 1, handlertest.Lost: 0} {
		t.Run(how.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := handlertest.New(t, sleep(0), handlertest.Options{Plan: short(t)})
				run.Deliver(message(0, "a"))
				for marks := run.Marks(); len(marks) == 0 || marks[len(marks)-1].Offset < 1; marks = run.Marks() {
					time.Sleep(time.Millisecond) // the timed commit comes after 100 ms
				}
				run.WantCommitted(topic, 0, 0) // the start, by the timer
				run.Revoke(how)
				run.WantCommitted(topic, 0, want)
			})
		})
	}
}

func TestRedeliveredMessageIsAsDelivered(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		var seen []string
		work := handler.Func(func(ctx context.Context, task *handler.Task) error {
			seen = append(seen, string(task.Value))
			task.Value = []byte("changed")
			<-ctx.Done()
			return ctx.Err()
		})
		run := handlertest.New(t, work, handlertest.Options{Plan: short(t)})
		run.Deliver(message(0, "a"))
		run.WantStarted(topic, 0, 0)
		run.Revoke(how)
		run.Assign(topic, 0)
		run.WantStarted(topic, 0, 0, 0)
		run.Stop()
		if !slices.Equal(seen, []string{"a", "a"}) {
			t.Errorf("handled %q", seen)
		}
	})
}

func TestBacklogIsBoundedByPausing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := handlertest.New(t, sleep(time.Hour), handlertest.Options{})
		for range 100 {
			run.Deliver(message(0, "a"))
		}
		time.Sleep(time.Minute)
		if c := run.Status().Claims[0]; !c.Paused || c.Backlog > 5 {
			t.Errorf("backlog %d, paused %v; want the plan's few messages", c.Backlog, c.Paused)
		}
		run.WaitIdle()
	})
}

func TestStopGivesRunningTasksTheirGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, err := config.Input{Expected: time.Minute, StopGrace: 2 * time.Minute}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		run := handlertest.New(t, sleep(time.Minute), handlertest.Options{Plan: plan})
		run.Deliver(message(0, "a"), message(0, "b"))
		run.WantStarted(topic, 0, 0)
		run.Stop()
		run.WantCommitted(topic, 0, 1)
		run.WantStarted(topic, 0, 0)
	})
}

// B09: a task that hangs holds up neither a revocation nor its neighbours.
func TestRevokeReturnsThoughATaskHangs(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		hang := make(chan struct{})
		defer close(hang)
		work := handler.Func(func(_ context.Context, task *handler.Task) error {
			if task.Partition == 0 {
				<-hang
			}
			return nil
		})
		run := handlertest.New(t, work, handlertest.Options{})
		run.Deliver(message(0, "a"), message(1, "b"))
		run.WantCommitted(topic, 1, 1)
		run.WantStarted(topic, 0, 0)
		began := time.Now()
		run.Revoke(how)
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("Revoke took %v, want at most the grace of 5s and a second", took)
		}
		run.WantCommitted(topic, 0, 0)
	})
}
