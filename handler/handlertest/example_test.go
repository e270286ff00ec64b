package handlertest_test

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"
	"github.com/IBM/sarama/mocks"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/handlertest"
)

// The handler under test.
var report = handler.Func(func(_ context.Context, t *handler.Task) error {
	fmt.Printf("report for %s\n", t.Value)
	return nil
})

func Example() {
	t := &spy{} // in a test: its *testing.T
	run := handlertest.New(t, report, handlertest.Options{})
	run.Deliver(
		&sarama.ConsumerMessage{Topic: "report-requests", Value: []byte("q3")},
		&sarama.ConsumerMessage{Topic: "report-requests", Value: []byte("q4")},
	)
	run.WaitIdle()
	run.WantStarted("report-requests", 0, 0, 1)
	run.WantCommitted("report-requests", 0, 2)
	run.Stop()
	fmt.Print(t.said.String()) // what failed: nothing
	// Output:
	// report for q3
	// report for q4
}

// A task that a rebalance cuts off is delivered again when the partition comes back.
func ExampleRun_Revoke() {
	t := &spy{}
	first := true
	work := handler.Func(func(ctx context.Context, _ *handler.Task) error {
		if first {
			first = false
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	})
	run := handlertest.New(t, work, handlertest.Options{})
	run.Deliver(&sarama.ConsumerMessage{Topic: "report-requests", Value: []byte("q3")})
	run.WantStarted("report-requests", 0, 0)
	run.Revoke(handlertest.Cooperative)
	run.Assign("report-requests", 0)
	run.WaitIdle()
	run.Stop()
	fmt.Println(len(run.Started()), "starts, last commit", run.Commits()[len(run.Commits())-1].Offset)
	// Output: 2 starts, last commit 1
}

// Messages may come from a partition consumer of sarama/mocks.
func ExampleRun_Consume() {
	t := &spy{}
	consumer := mocks.NewConsumer(t, nil)
	consumer.ExpectConsumePartition("report-requests", 0, sarama.OffsetOldest).
		YieldMessage(&sarama.ConsumerMessage{Value: []byte("q3")})
	source, err := consumer.ConsumePartition("report-requests", 0, sarama.OffsetOldest)
	if err != nil {
		fmt.Println(err)
	}
	run := handlertest.New(t, report, handlertest.Options{})
	run.Consume("report-requests", 0, source)
	run.WaitIdle()
	run.Stop()
	for _, m := range run.Marks() {
		fmt.Printf("marked %s/%d: %d\n", m.Topic, m.Partition, m.Offset)
	}
	// Output:
	// report for q3
	// marked report-requests/0: 0
	// marked report-requests/0: 1
}
