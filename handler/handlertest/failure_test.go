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
		wantSaid(t, said, "committed requests/0: 0, want 2", "started requests/0: [0 0", "want [0]", "not everything was handled within 1m30s: requests/0@0 failed ", " times, last: never\n",
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

// What fails and fails says so, and does not fill the log.
func TestAHandlerThatAlwaysFailsDoesNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := handler.Func(func(_ context.Context, m *handler.Task) error {
			if m.Partition == 1 {
				panic("boom")
			}
			return errors.New("boom")
		})
		s := &spy{}
		said := s.failing(func(tb *spy) {
			run := handlertest.New(tb, boom, handlertest.Options{Timeout: 24 * time.Hour})
			run.Deliver(message(0, "a"), message(1, "b"))
			run.WaitIdle()
		})
		if n := strings.Count(s.log.String(), "task failed"); n < 20 || n > 22 {
			t.Errorf("%d entries of two messages that fail, want 10 each and what was left out:\n%s", n, &s.log)
		}
		wantSaid(t, said, "within 24h: requests/0@0 failed ", " times, last: boom; requests/1@0 failed ", "last: the handler panicked")
		wantSaid(t, s.log.String(), `more entries "task failed: it is tried again" for requests/0@0`, "for requests/1@0")
	})
}

// One that fails, and is handled then, is none that fails, and neither is one that is cancelled.
func TestAFailureThatIsOverIsNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		work := handler.Func(func(ctx context.Context, m *handler.Task) error {
			if m.Offset == 0 && first {
				first = false
				return errors.New("boom")
			}
			if m.Offset == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		said := failing(func(tb *spy) {
			run := handlertest.New(tb, work, handlertest.Options{})
			run.Deliver(message(0, "a"), message(0, "b"))
			run.WantStarted(topic, 0, 0, 0, 1)
			run.Revoke(handlertest.Cooperative)
			run.Assign(topic, 0)
			run.WaitIdle()
		})
		wantSaid(t, said, "within 720h\n", "cancelled 1")
	})
}
