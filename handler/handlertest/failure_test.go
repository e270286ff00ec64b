package handlertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
	"github.com/IBM/sarama/mocks"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/handlertest"
)

func wantSaid(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("the failure does not say %q:\n%s", part, said)
		}
	}
}

func TestFailuresSayWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := handler.Func(func(context.Context, *handler.Task) error { return errors.New("never") })
		said := failing(func(tb *spy) {
			run := handlertest.New(tb, work, handlertest.Options{Timeout: 90 * time.Second})
			run.Deliver(message(0, "a"), message(0, "b"))
			run.WantCommitted(topic, 0, 2)
			run.WantStarted(topic, 0, 0)
			run.WaitIdle()
		})
		wantSaid(t, said, "committed requests/0: 0, want 2", "started requests/0: [0 0", "want [0]", "not everything was handled within 1m30s",
			"requests/0@0 requests/0@0", "requests/0→0", "requests/0: 2 messages up to offset 1, claimed\n", "requests/0: backlog 2", "a failed task waits", "succeeded 0")
	})
}

func TestLongListsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := failing(func(tb *spy) {
			run := handlertest.New(tb, sleep(0), handlertest.Options{})
			for range 50 {
				run.Deliver(message(0, "a"))
			}
			run.WaitIdle()
			run.WantCommitted(topic, 0, 7)
		})
		wantSaid(t, said, "committed requests/0: 50, want 7", "(30 more) … requests/0@30")
	})
}

func TestMisuseIsNamed(t *testing.T) {
	for want, misuse := range map[string]func(*spy){
		"the handler is nil": func(tb *spy) { handlertest.New(tb, handler.Func(nil), handlertest.Options{}) },
		"Slots is -1":        func(tb *spy) { handlertest.New(tb, sleep(0), handlertest.Options{Slots: -1}) },
		"nothing is claimed": func(tb *spy) { handlertest.New(tb, sleep(0), handlertest.Options{}).Revoke(handlertest.Eager) },
		"make a new run":     stopped(func(r *handlertest.Run) { r.Deliver(message(0, "a")) }),
		"Assign after Stop":  stopped(func(r *handlertest.Run) { r.Assign(topic, 0) }),
		"message 2 of 2, value \"b\", has no topic: set ConsumerMessage.Topic": func(tb *spy) {
			handlertest.New(tb, sleep(0), handlertest.Options{}).Deliver(message(0, "a"), &sarama.ConsumerMessage{Value: []byte("b")})
		},
		"the run has stopped":  stopped(func(r *handlertest.Run) { r.Consume(topic, 0, nil) }),
		"get negative offsets": anyOffset,
	} {
		synctest.Test(t, func(t *testing.T) { wantSaid(t, failing(misuse), want) })
	}
}

func stopped(f func(*handlertest.Run)) func(*spy) {
	return func(tb *spy) {
		run := handlertest.New(tb, sleep(0), handlertest.Options{})
		run.Stop()
		f(run)
	}
}

func anyOffset(tb *spy) {
	pc := mocks.NewConsumer(tb, sarama.NewConfig()).ExpectConsumePartition(topic, 0, mocks.AnyOffset)
	handlertest.New(tb, sleep(0), handlertest.Options{}).Consume(topic, 0, pc)
}
