// Hello is the program of the README.
//
//	go run ./hello localhost:9092
//
// A broker with its topic and ten messages, in another terminal:
//
//	cd ../internal/kafkatest && go run ./cmd/kafka -embedded -port 9092 -topic report-requests:3 -messages 10
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, brokers []string) error {
	plan, err := config.For(5 * time.Minute) // how long a task usually takes
	if err != nil {
		return err
	}
	c, err := consumer.New(consumer.Config{
		Brokers: brokers,
		Group:   "reports",
		Topics:  []string{"report-requests"},
		Plan:    plan,
	}, handler.Func(makeReport))
	if err != nil {
		return err
	}
	return c.Run(ctx) // until ctx ends; then it stops in order and returns nil
}

// makeReport is the task of one message. nil is success, and is committed at once. An error is tried again later.
// When ctx ends the partition has been taken away, or the program stops: return soon.
func makeReport(ctx context.Context, t *handler.Task) error {
	select {
	case <-time.After(time.Second): // your work
		fmt.Printf("report for %s is ready\n", t.Value)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
