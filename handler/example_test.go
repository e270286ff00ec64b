package handler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

// A service that has a sarama.ConsumerGroup of its own.
func Example() { //nolint:testableexamples // it takes a broker
	plan, err := config.For(5 * time.Minute)
	if err != nil {
		panic(err)
	}
	h, err := handler.New(handler.Func(makeReport), handler.Options{Plan: plan, Slots: 4})
	if err != nil {
		panic(err)
	}
	cfg, err := plan.Apply(sarama.NewConfig()) // timeouts, fetch sizes and buffers that fit tasks of five minutes
	if err != nil {
		panic(err)
	}
	cfg.Consumer.Group.Rebalance.GroupStrategies = h.BalanceStrategies()
	group, err := sarama.NewConsumerGroup([]string{"localhost:9092"}, "reports", cfg)
	if err != nil {
		panic(err)
	}
	go func() { // ends when the group is closed
		for err := range group.Errors() {
			slog.Warn("consumer group", slog.Any("error", err))
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for ctx.Err() == nil {
		if err := group.Consume(ctx, []string{"report-requests"}, h); err != nil {
			slog.Warn("consume", slog.Any("error", err))
			time.Sleep(time.Second)
		}
	}
	_ = group.Close() // leaves the group

	within, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Wait(within); err != nil {
		slog.Warn("a task ignored its context and is cut off", slog.Int("running", h.Status().Running))
	}
}

// makeReport looks at its context where it can stop.
func makeReport(ctx context.Context, t *handler.Task) error {
	for page := range 100 {
		if ctx.Err() != nil {
			return context.Cause(ctx) // not a failure: the next owner of the partition makes the report
		}
		render(t.Value, page)
	}
	return nil
}

func render([]byte, int) {}

func ExampleFunc() {
	shout := handler.Func(func(_ context.Context, t *handler.Task) error {
		fmt.Printf("%s/%d@%d %s\n", t.Topic, t.Partition, t.Offset, strings.ToUpper(string(t.Value)))
		return nil
	})
	// A unit test calls it directly, or drives it with package handlertest.
	_ = shout.Handle(context.Background(), &handler.Task{ConsumerMessage: &sarama.ConsumerMessage{
		Topic: "report-requests", Partition: 2, Offset: 7, Value: []byte("q3"),
	}})
	// Output: report-requests/2@7 Q3
}

// importer is a handler from before.
type importer struct{}

func (importer) Handle(name, topic string, partition int32, offset int64, key, value string) error {
	fmt.Println(name, topic, partition, offset, key, value)
	return nil
}

func ExampleLegacy() {
	h := handler.Legacy("import-1", importer{})
	_ = h.Handle(context.Background(), &handler.Task{ConsumerMessage: &sarama.ConsumerMessage{
		Topic: "imports", Offset: 12, Key: []byte("customer-9"), Value: []byte("file.csv"),
	}})
	// Output: import-1 imports 0 12 customer-9 file.csv
}

// Tasks of different customers run at once, eight of them at most, two at most of one partition; those of one customer in their order.
func ExampleOptions_order() {
	plan, _ := config.For(time.Minute)
	h, err := handler.New(handler.Func(makeReport), handler.Options{
		Plan: plan, Slots: 8, PartitionSlots: 2,
		Order: handler.ByKey,
		Key: func(m *sarama.ConsumerMessage) []byte {
			customer, _, _ := bytes.Cut(m.Value, []byte(","))
			return customer
		},
		BacklogBytes: 64 << 20,
	})
	fmt.Println(h != nil, err)

	_, err = handler.New(handler.Func(makeReport), handler.Options{Plan: plan, Order: handler.ByKey, KeySlots: 3})
	fmt.Println(err) // three tasks of a customer at once, in any order
	// Output:
	// true <nil>
	// <nil>
}

// A wrong option is named before anything starts.
func ExampleNew() {
	plan, _ := config.For(5 * time.Minute)
	_, err := handler.New(handler.Func(makeReport), handler.Options{Plan: plan, Slots: -1})
	fmt.Println(errors.Is(err, handler.ErrOptions), err)
	// Output: true invalid handler options: Slots is -1: set how many tasks may run at once, or 0 for one a claimed partition
}

// All options of a strictly serial consumer that waits longer after failures.
func ExampleOptions() {
	plan, _ := config.Input{Expected: time.Minute, Max: 10 * time.Minute, Grace: 30 * time.Second}.Plan()
	h, err := handler.New(handler.Legacy("import-1", importer{}), handler.Options{
		Plan:   plan,
		Slots:  1,
		Retry:  retry.Policy{Initial: 10 * time.Second, Max: 10 * time.Minute},
		Logger: slog.Default().With(slog.String("group", "imports")),
		Hooks:  []any{&ledger{}},
	})
	fmt.Println(h != nil, err)
	// Output: true <nil>
}

// ledger implements the hooks that it wants; others it need not know.
type ledger struct{}

var (
	_ handler.TaskStartHook  = (*ledger)(nil)
	_ handler.TaskEndHook    = (*ledger)(nil)
	_ handler.ClaimStartHook = (*ledger)(nil)
	_ handler.ClaimEndHook   = (*ledger)(nil)
	_ handler.GapHook        = (*ledger)(nil)
)

func (*ledger) OnTaskStart(m *sarama.ConsumerMessage) { fmt.Println("start", m.Offset) }

func (*ledger) OnTaskEnd(e handler.TaskEnd) {
	fmt.Println(e.Message.Offset, e.Outcome, "attempt", e.Attempt, "after", e.Elapsed, e.Err)
}

func (*ledger) OnClaimStart(c handler.Claim) { fmt.Println("took", c.Topic, c.Partition) }

func (*ledger) OnClaimEnd(e handler.ClaimEnd) {
	fmt.Println("gave up", e.Topic, e.Partition, "for", e.Reason, "with", e.Abandoned, "tasks still running")
}

func (*ledger) OnGap(g handler.Gap) {
	fmt.Println(g.First-g.Committed, "messages of", g.Topic, g.Partition, "were gone before they were read")
}

func ExampleTaskEndHook() {
	var h handler.TaskEndHook = &ledger{}
	h.OnTaskEnd(handler.TaskEnd{
		Message: &sarama.ConsumerMessage{Offset: 7}, Outcome: handler.Failed, Attempt: 2, Elapsed: time.Second, Err: handler.ErrGoexit,
	})
	// Output: 7 failed attempt 2 after 1s the handler called runtime.Goexit
}

func ExampleGapHook() {
	var h handler.GapHook = &ledger{}
	h.OnGap(handler.Gap{Claim: handler.Claim{Topic: "imports", Partition: 3}, Committed: 100, First: 500})
	// Output: 400 messages of imports 3 were gone before they were read
}

// What runs now, and for how long.
func ExampleGroupHandler_Status() {
	plan, _ := config.For(5 * time.Minute)
	h, _ := handler.New(handler.Func(makeReport), handler.Options{Plan: plan})
	s := h.Status()
	for _, c := range s.Claims {
		for _, t := range c.Tasks {
			fmt.Println(c.Topic, c.Partition, t.Offset, t.Age)
		}
	}
	fmt.Println(s.Running, "running,", s.Succeeded, "done")
	// Output: 0 running, 0 done
}
