// Service is a whole program as a team would deploy it: settings from flags or the environment, JSON logs, health endpoints, a stop
// in order at SIGTERM. Its work is a pretended transcode.
//
//	go run ./service -brokers localhost:9092 -group transcoders -topic videos -expected 5m
//	go run ./service -expected 5m -plan # which timeouts and buffers would that be, and why?
//
// With -stop-grace 2h a deployment waits for tasks that run, and all else moves on meanwhile. A message is JSON:
//
//	{"video": "cats.mp4", "length": "90s"}
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// shutdownTimeout is what requests to the health endpoints get to end.
const shutdownTimeout = 3 * time.Second

func main() {
	s, err := readSettings(os.Args[1:], os.Getenv, os.Stdout)
	if err == nil && s.planOnly {
		err = printPlan(os.Stdout, s)
	}
	switch {
	case errors.Is(err, flag.ErrHelp): // it is printed
	case err != nil:
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(2)
	case !s.planOnly:
		os.Exit(untilSignalled(s))
	}
}

// untilSignalled returns the exit code. The first signal stops in order, a second one ends the program at once.
func untilSignalled(s settings) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	logger := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: readable}))
	if err := run(ctx, s, logger); err != nil {
		logger.Error("stopped by an error", slog.Any("error", err))
		return 1
	}
	logger.Info("stopped in order")
	return 0
}

// printPlan is for people: every value with its reason.
func printPlan(w io.Writer, s settings) error {
	plan, err := s.plan()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, plan)
	return err
}

// readable writes durations as text: JSON logs have them in nanoseconds otherwise.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// run returns nil after a requested stop.
func run(ctx context.Context, s settings, logger *slog.Logger) error {
	plan, err := s.plan()
	if err != nil {
		return err
	}
	c, err := consumer.New(consumer.Config{
		Brokers: s.brokers,
		Group:   s.group,
		Topics:  []string{s.topic},
		Plan:    plan,
		Slots:   s.slots,
		Logger:  logger,
	}, &transcoder{logger: logger})
	if err != nil {
		return err
	}
	return serve(ctx, s.listen, c, logger)
}

// serve runs the consumer, with the health endpoints beside it. They go on while the consumer stops, so that the last tasks can be
// watched.
func serve(ctx context.Context, addr string, c *consumer.Consumer, logger *slog.Logger) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	logger.InfoContext(ctx, "health endpoints", slog.String("addr", listener.Addr().String()))
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	server := &http.Server{Handler: health(c), ReadHeaderTimeout: shutdownTimeout}
	var served error
	var beside sync.WaitGroup
	beside.Go(func() { // ends with shutdown
		if served = server.Serve(listener); !errors.Is(served, http.ErrServerClosed) {
			fail(served)
		}
	})
	err = c.Run(ctx)
	err = errors.Join(err, shutdown(server))
	beside.Wait()
	if !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	return server.Shutdown(ctx)
}
