// Command kafka runs a real Kafka on loopback until it is interrupted, and prints where to connect. Its data are gone afterwards.
//
//	go run ./cmd/kafka -topic report-requests:3 -messages 10
//
// With -embedded the broker is one inside this program, which needs no Java. With -check it starts nothing: it says in one line whether
// a real Kafka can be started here, and what to install if not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func main() {
	var s settings
	flag.StringVar(&s.version, "version", kafkatest.Newest, "version of Apache Kafka")
	flag.IntVar(&s.nodes, "nodes", 1, "1 or 3 nodes")
	flag.BoolVar(&s.embedded, "embedded", false, "a broker inside this program, in place of a real Kafka")
	flag.IntVar(&s.port, "port", 0, "port of the embedded broker on 127.0.0.1; 0 takes a free one")
	flag.Var(&s.topic, "topic", "make a topic, name:partitions")
	flag.IntVar(&s.messages, "messages", 0, "put so many messages into the topic: 1, 2, 3 and so on, spread over its partitions")
	check := flag.Bool("check", false, "say whether a real Kafka can be started; fails only with "+kafkatest.EnvMode+"=require")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *check {
		err = kafkatest.Available()
	} else {
		err = s.run(ctx, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil && (!*check || kafkatest.Required()) {
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	version  string
	nodes    int
	embedded bool
	port     int
	topic    topic
	messages int
}

// run prints the addresses when all is ready, and returns when ctx has ended and the broker too.
func (s settings) run(ctx context.Context, out io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	broker, err := s.start(ctx)
	if err != nil {
		return err
	}
	err = s.topic.create(broker, s.messages)
	if err == nil {
		_, err = fmt.Fprintln(out, strings.Join(broker.Addrs(), ","))
	}
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, broker.Close())
}

func (s settings) check() error {
	switch {
	case s.messages < 0:
		return errors.New("-messages: 0 or more")
	case s.messages > 0 && s.topic.name == "":
		return errors.New("-messages: say which -topic")
	case s.port != 0 && !s.embedded:
		return errors.New("-port: only with -embedded")
	case s.nodes != 1 && s.nodes != 3:
		return errors.New("-nodes: 1 or 3")
	}
	return nil
}

func (s settings) start(ctx context.Context) (kafkatest.Broker, error) {
	if s.embedded {
		if s.port == 0 {
			return kafkatest.StartFake()
		}
		return kafkatest.StartFake(kfake.Ports(s.port))
	}
	if err := kafkatest.Available(); err != nil {
		return nil, fmt.Errorf("%w; -embedded takes a broker inside this program", err)
	}
	o := kafkatest.Options{Version: s.version}
	if s.nodes == 1 {
		return kafkatest.StartKafka(ctx, o)
	}
	return kafkatest.StartCluster(ctx, o)
}
