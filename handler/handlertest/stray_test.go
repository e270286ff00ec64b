package handlertest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/handlertest"
)

// stubborn ignores its context until the test lets it go.
func stubborn(release <-chan struct{}) handler.Func {
	return func(context.Context, *handler.Task) error {
		<-release
		return nil
	}
}

// hanging says what a test of a handler that ignores its context fails with, when it ends by f.
func hanging(t *testing.T, o handlertest.Options, f func(run *handlertest.Run)) (said string) {
	synctest.Test(t, func(*testing.T) {
		release := make(chan struct{})
		defer close(release)
		said = failing(func(tb *spy) {
			run := handlertest.New(tb, stubborn(release), o)
			run.Deliver(message(0, "a"), message(3, "b"))
			run.WantStarted(topic, 3, 0)
			run.WantStarted(topic, 0, 0)
			f(run)
		})
	})
	return said
}

func TestATaskThatHangsFailsTheTest(t *testing.T) {
	for name, f := range map[string]func(run *handlertest.Run){
		"at the stop":                 (*handlertest.Run).Stop,
		"at the end of the test":      func(*handlertest.Run) {},
		"of a revoked partition":      func(run *handlertest.Run) { run.Revoke(handlertest.Cooperative) },
		"of a partition that is back": func(run *handlertest.Run) { run.Revoke(handlertest.Eager); run.Assign(topic, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			said := hanging(t, handlertest.Options{}, f)
			wantSaid(t, said, "still runs", "grace of 5s", "requests/0@0", "requests/3@0", "Options.AllowStrays")
			if n := strings.Count(said, "still runs after the stop"); n != 1 {
				t.Errorf("said %d times:\n%s", n, said)
			}
		})
	}
}

func TestStraysMayBeAllowed(t *testing.T) {
	if said := hanging(t, handlertest.Options{AllowStrays: true}, (*handlertest.Run).Stop); said != "" {
		t.Errorf("the test failed:\n%s", said)
	}
}

// A task that was given up at a revocation and returns before the stop is nobody's fault.
func TestATaskThatReturnedAtLastIsNoStray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		run := handlertest.New(t, stubborn(release), handlertest.Options{})
		run.Deliver(message(0, "a"))
		run.WantStarted(topic, 0, 0)
		run.Revoke(handlertest.Cooperative)
		if s := run.Status(); s.Stray != 1 {
			t.Errorf("%d strays, want 1", s.Stray)
		}
		close(release)
		run.Stop()
	})
}

// The engine commits the start of a partition; nothing of the test's messages is committed by that.
func TestNothingIsCommittedWhileTheFirstTaskRuns(t *testing.T) {
	for name, first := range map[string]int64{"from the beginning": 0, "from an offset": 40} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := handlertest.New(t, sleep(time.Hour), handlertest.Options{})
				run.WantCommitted(topic, 0, -1)
				m := message(0, "a")
				m.Offset = first
				run.Deliver(m)
				run.WantCommitted(topic, 0, -1)
				run.WantCommitted(topic, 0, first) // the start
				run.WantCommitted(topic, 0, -1)
				run.WaitIdle()
				run.WantCommitted(topic, 0, first+1)
			})
		})
	}
}

func TestACommittedMessageIsNotNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := failing(func(tb *spy) {
			run := handlertest.New(tb, sleep(0), handlertest.Options{})
			run.Deliver(message(0, "a"))
			run.WaitIdle()
			run.WantCommitted(topic, 0, -1)
		})
		wantSaid(t, said, "committed requests/0: 1, want nothing\n")
	})
}

// Each line of a failure text is a label and what belongs to it, without a separator at its end.
func TestFailureTextsAreTidy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := failing(func(tb *spy) {
			run := handlertest.New(tb, sleep(time.Hour), handlertest.Options{Timeout: time.Minute})
			run.Deliver(message(0, "a"))
			synctest.Wait()
			run.Deliver(message(1, "b"), message(1, "c"))
			run.Assign(topic, 7)
			run.WaitIdle()
		})
		want := `handlertest: not everything was handled within 1m
  started    requests/0@0 requests/1@0
  marked     requests/0→0 requests/1→0
  committed  requests/0→0 requests/1→0
  partition  requests/0: 1 message, offset 0, claimed
  partition  requests/1: 2 messages up to offset 1, claimed
  partition  requests/7: no message delivered, claimed
  claim      requests/0: backlog 1, runs offset 0 (attempt 1) for 1m
  claim      requests/1: backlog 2, runs offset 0 (attempt 1) for 1m
  claim      requests/7: backlog 0
  outcomes   succeeded 0, failed 0 (panicked 0), cancelled 0, strays 0, abandoned 0
`
		if said != want {
			t.Errorf("said:\n%s\nwant:\n%s", said, want)
		}
	})
}
