// Command kafka runs a real Kafka on loopback until it is interrupted, and prints where to connect. Its data are gone afterwards.
// With -check it starts nothing: it says in one line whether a real Kafka can be started here, and what to install if not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func main() {
	version := flag.String("version", kafkatest.Newest, "version of Apache Kafka")
	nodes := flag.Int("nodes", 1, "1 or 3 nodes")
	check := flag.Bool("check", false, "say whether a real Kafka can be started; fails only with "+kafkatest.EnvMode+"=require")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *version, *nodes, *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil && (!*check || kafkatest.Required()) {
		os.Exit(1)
	}
}

func run(ctx context.Context, version string, nodes int, check bool) error {
	if err := kafkatest.Available(); err != nil || check {
		return err
	}
	broker, err := start(ctx, kafkatest.Options{Version: version}, nodes)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, strings.Join(broker.Addrs(), ",")); err != nil {
		return errors.Join(err, broker.Close())
	}
	<-ctx.Done()
	return broker.Close()
}

func start(ctx context.Context, o kafkatest.Options, nodes int) (kafkatest.Broker, error) {
	switch nodes {
	case 1:
		return kafkatest.StartKafka(ctx, o)
	case 3:
		return kafkatest.StartCluster(ctx, o)
	default:
		return nil, errors.New("-nodes: 1 or 3")
	}
}
