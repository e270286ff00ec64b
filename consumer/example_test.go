package consumer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// makeReport is the task of one message.
func makeReport(ctx context.Context, t *handler.Task) error {
	select {
	case <-time.After(5 * time.Minute): // the work
		fmt.Printf("report for %s is ready\n", t.Value)
		return nil // done: its offset is committed
	case <-ctx.Done(): // the partition moves to another member, or this one stops
		return context.Cause(ctx)
	}
}

// A member of the group reports. It runs until a signal comes, and stops in order then: what is finished is committed, and the
// next member takes over at once.
func Example() { //nolint:testableexamples // it needs a broker
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	plan, err := config.For(5 * time.Minute) // how long a task usually takes
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := consumer.New(consumer.Config{
		Brokers: []string{"localhost:9092"},
		Group:   "reports",
		Topics:  []string{"report-requests"},
		Plan:    plan,
		Slots:   4, // tasks at once in this member; default: one a partition that it holds
	}, handler.Func(makeReport))
	if err != nil {
		fmt.Println(err) // names the field, and what to put there
		return
	}
	if err := c.Run(ctx); err != nil {
		fmt.Println(err) // what waiting does not mend: see FatalError
	}
}

// Status is for health endpoints and status pages: it can be asked for at any time, and makes JSON as it is.
func ExampleConsumer_Status() {
	plan, err := config.For(5 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := consumer.New(consumer.Config{
		Brokers: []string{"localhost:9092"}, Group: "reports", Topics: []string{"report-requests"}, Plan: plan,
	}, handler.Func(makeReport))
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(c.Status())
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s := c.Status(); s.State != consumer.StateMember || len(s.Missing) > 0 {
			http.Error(w, fmt.Sprintf("%s, missing topics: %v", s.State, s.Missing), http.StatusServiceUnavailable)
		}
	})

	// http.ListenAndServe(":8080", mux) beside c.Run(ctx)

	// Or look at what is of interest: what waits, and what has been running for long.
	s := c.Status()
	var lag int64
	for _, claim := range s.Claims {
		lag += max(claim.Lag, 0) // -1 as long as it is not known
		for _, task := range claim.Tasks {
			if task.Age > time.Hour {
				fmt.Printf("%s/%d@%d runs for %v\n", claim.Topic, claim.Partition, task.Offset, task.Age)
			}
		}
	}
	fmt.Println(s.State, len(s.Claims), "partitions, lag", lag)
	// Output: new 0 partitions, lag 0
}

// meter counts, for whatever exports metrics. A hook is called on the goroutine of the event, so it must not wait for anything.
type meter struct {
	commits, failures atomic.Int64
}

// Each hook is an interface of one method. The guards find a slip in a method's name or signature.
var (
	_ consumer.CommitHook    = (*meter)(nil)
	_ consumer.RebalanceHook = (*meter)(nil)
	_ handler.TaskEndHook    = (*meter)(nil)
)

func (m *meter) OnCommit(c consumer.Commit) {
	if c.Err == nil {
		m.commits.Add(1)
	}
}

func (m *meter) OnRebalance(r consumer.Rebalance) {
	slog.Info("partitions have moved", slog.String("gained", r.Gained.String()), slog.String("lost", r.Lost.String()))
}

func (m *meter) OnTaskEnd(e handler.TaskEnd) {
	if e.Outcome == handler.Failed {
		m.failures.Add(1)
	}
}

// Hooks hear what happens as it happens: a value implements those that it wants, of this package and of package handler.
func ExampleConfig_hooks() { //nolint:testableexamples // it needs a broker
	plan, err := config.For(5 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &meter{}
	c, err := consumer.New(consumer.Config{
		Brokers: []string{"localhost:9092"}, Group: "reports", Topics: []string{"report-requests"}, Plan: plan,
		Hooks: []any{m},
	}, handler.Func(makeReport))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.commits.Load(), "commits,", m.failures.Load(), "failed tasks")
}
