package consumer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// A task that is dismissed says that its partition is idle, after the member has stopped.
func TestNobodyAsksForARoundAfterTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, err := config.For(time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		tasks, err := handler.New(handler.Func(func(context.Context, *handler.Task) error { return nil }), handler.Options{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		m := &membership{plan: plan, tasks: tasks, commits: commit.New(commit.Options{})}
		f := &followUp{m: m}
		f.told(strategy.Word{Assignment: assign.Assignment{Drained: true}, Known: true})
		f.stop()
		f.nudge()
		time.Sleep(time.Hour)
		if f.timer.Stop() {
			t.Error("it looks again and again")
		}
	})
}
