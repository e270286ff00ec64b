// Plainsarama runs evenkeel's handler over a sarama.ConsumerGroup of its own: for services that make their group themselves and
// want to keep it that way.
//
//	go run ./plainsarama -brokers localhost:9092 -group reports -topic report-requests
//
// What a plain group lacks, and package consumer has: commits that are answered, a lease that ends the tasks of a member that was
// cut off, joins that a stop can cancel.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

const (
	// firstPause and longestPause are how long to wait after a Consume that failed: it doubles from one to the next. A topic that is
	// missing makes each of them fail.
	firstPause, longestPause = time.Second, time.Minute
	// patience is how long tasks that ignored their cancellation may still take when all else has stopped.
	patience = 5 * time.Second
)

type settings struct {
	brokers, group, topic string
	expected              time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.brokers, "brokers", "localhost:9092", "`host:port,...`")
	flag.StringVar(&s.group, "group", "reports", "consumer group")
	flag.StringVar(&s.topic, "topic", "report-requests", "topic")
	flag.DurationVar(&s.expected, "expected", 5*time.Minute, "how long a task usually takes")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(ctx, s, logger); err != nil {
		logger.Error("stopped by an error", slog.Any("error", err))
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, logger *slog.Logger) error {
	plan, err := config.For(s.expected)
	if err != nil {
		return err
	}
	h, err := handler.New(handler.Func(makeReport), handler.Options{Plan: plan, Logger: logger})
	if err != nil {
		return err
	}
	cfg, err := plan.Apply(ownConfig()) // a changed copy
	if err != nil {
		return err
	}
	cfg.Consumer.Group.Rebalance.GroupStrategies = h.BalanceStrategies() // our own: it leaves running tasks alone
	group, err := sarama.NewConsumerGroup(strings.Split(s.brokers, ","), s.group, cfg)
	if err != nil {
		return err
	}
	var beside sync.WaitGroup
	beside.Go(func() { drain(group, logger) }) // ends when the group is closed
	err = consume(ctx, group, s.topic, h, logger)
	err = errors.Join(err, group.Close())
	beside.Wait()
	return errors.Join(err, waitForTasks(h))
}

// ownConfig is what the service has set up for itself: security, client id, rack. The plan keeps it.
func ownConfig() *sarama.Config {
	cfg := sarama.NewConfig()
	cfg.ClientID = "plainsarama"
	return cfg
}

// consume calls Consume again after each session, as sarama wants it, until ctx ends. After one that failed it waits, longer each time.
func consume(ctx context.Context, group sarama.ConsumerGroup, topic string, h *handler.GroupHandler, logger *slog.Logger) error {
	pause := firstPause
	for ctx.Err() == nil {
		err := group.Consume(ctx, []string{topic}, h)
		switch {
		case errors.Is(err, sarama.ErrClosedConsumerGroup):
			return err
		case err == nil: // a session has ended, by a rebalance as a rule
			pause = firstPause
		case ctx.Err() == nil:
			logger.WarnContext(ctx, "the group cannot be joined or was lost: trying again", slog.Any("error", err), slog.Duration("retry_in", pause))
			sleep(ctx, pause)
			pause = min(2*pause, longestPause)
		}
	}
	return nil
}

// drain has to go on all the time: sarama drops errors that nobody receives.
func drain(group sarama.ConsumerGroup, logger *slog.Logger) {
	for err := range group.Errors() {
		logger.Warn("the group reports an error", slog.Any("error", err))
	}
}

func waitForTasks(h *handler.GroupHandler) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return h.Wait(ctx)
}

// makeReport takes a second and obeys its context.
func makeReport(ctx context.Context, t *handler.Task) error {
	sleep(ctx, time.Second)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fmt.Printf("report for %s is ready\n", t.Value)
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
