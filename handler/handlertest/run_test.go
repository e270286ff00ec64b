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
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

const topic = "requests"

func message(partition int32, value string) *sarama.ConsumerMessage {
	return &sarama.ConsumerMessage{Topic: topic, Partition: partition, Value: []byte(value)}
}

// eachWay runs a test under both protocols, in virtual time.
func eachWay(t *testing.T, f func(t *testing.T, how handlertest.Revocation)) {
	for _, how := range []handlertest.Revocation{handlertest.Eager, handlertest.Cooperative} {
		t.Run(how.String(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, how) }) })
	}
}

// sleep returns a handler that takes d and obeys its context.
func sleep(d time.Duration) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func TestDeliveredMessagesAreHandledAndCommitted(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		run := handlertest.New(t, sleep(6*time.Hour), handlertest.Options{})
		run.Deliver(message(0, "a"), message(0, "b"), message(1, "c"))
		run.WaitIdle()
		run.WantStarted(topic, 0, 0, 1)
		run.WantCommitted(topic, 0, 2)
		run.WantCommitted(topic, 1, 1)
		run.Revoke(how)
		run.WantCommitted(topic, 0, 2)
	})
}

func TestZeroOptionsWorkInRealTime(t *testing.T) {
	run := handlertest.New(t, sleep(0), handlertest.Options{})
	run.Deliver(message(0, "a"))
	run.WantCommitted(topic, 0, 1)
	run.Stop()
}

// The plan for short tasks leaves the commit to sarama's timer.
func TestMarksOfShortTasksAreCommittedByTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := handlertest.New(t, sleep(0), handlertest.Options{Plan: short(t)})
		run.Deliver(message(0, "a"), message(0, "b"), message(0, "c"))
		run.WantCommitted(topic, 0, 3)
	})
}

func TestFailedMessageIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := 2
		work := handler.Func(func(context.Context, *handler.Task) error {
			if failures--; failures >= 0 {
				return errors.New("not yet")
			}
			return nil
		})
		run := handlertest.New(t, work, handlertest.Options{Retry: retry.Policy{Initial: time.Minute, Max: time.Hour}})
		run.Deliver(message(0, "a"), message(0, "b"))
		run.WaitIdle()
		run.WantStarted(topic, 0, 0, 0, 0, 1)
		if c := run.Status().Counts; c.Failed != 2 || c.Succeeded != 2 {
			t.Errorf("counts %+v, want 2 failed and 2 succeeded", c)
		}
	})
}

func TestOffsetsAreGivenOrKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := handlertest.New(t, sleep(0), handlertest.Options{})
		late := message(0, "c")
		late.Offset = 40
		run.Deliver(message(0, "a"), message(0, "b"), late, message(0, "d"))
		run.WaitIdle()
		run.WantStarted(topic, 0, 0, 1, 40, 41)
		run.WantCommitted(topic, 0, 42)
	})
}

func TestRecordsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := handlertest.New(t, sleep(time.Second), handlertest.Options{})
		run.Deliver(message(3, "a"), message(3, "b"))
		run.WaitIdle()
		var values []string
		for _, m := range run.Started() {
			values = append(values, string(m.Value))
		}
		want := []handlertest.Mark{{Topic: topic, Partition: 3}, {Topic: topic, Partition: 3, Offset: 1}, {Topic: topic, Partition: 3, Offset: 2}}
		if !slices.Equal(values, []string{"a", "b"}) || !slices.Equal(run.Marks(), want) || !slices.Equal(run.Commits(), want) {
			t.Errorf("started %v, marks %v, commits %v", values, run.Marks(), run.Commits())
		}
	})
}

// short is a plan for short tasks: no copies, and commits by the timer.
func short(t *testing.T) *config.Plan {
	t.Helper()
	plan, err := config.For(time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
