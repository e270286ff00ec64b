// Quickstart shows evenkeel at work. It fills a topic with messages that each take 1 to 3 seconds to handle, starts a member of a
// consumer group, lets a second one join in the middle, and lets the first one leave near the end.
//
//	go run ./quickstart                           # on a broker inside this program
//	go run ./quickstart -brokers localhost:9092   # on a Kafka cluster, in a topic that it creates and deletes
//
// Read members.go next: it has the few lines that a program of your own needs. The last line that is printed counts what happened:
//
//	messages       that were put into the topic
//	handled        different messages that a handler finished
//	lost           messages that no handler finished, or that are not committed on the broker at the end
//	started        handler calls; as many as messages when no task had to be run again
//	rebalances     generations of the group after the first one
//	longest_stall  the longest time for which a partition with messages left had no running task, from the first assignment on
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the command line.
type options struct {
	brokers    string
	partitions int
	messages   int
	seed       uint64
	protocol   string
	limit      time.Duration
	verbose    bool
}

// exitInterrupted is what shells expect of a program that Ctrl-C has stopped.
const exitInterrupted = 130

var (
	errInterrupted = errors.New("interrupted")
	errLate        = errors.New("not all messages were handled within the time limit")
	errLost        = errors.New("messages were lost")
)

func main() {
	o := options{}
	flag.StringVar(&o.brokers, "brokers", "", "`host:port,...` of a cluster without TLS and SASL; empty: a broker inside this program")
	flag.IntVar(&o.partitions, "partitions", 6, "partitions of the topic")
	flag.IntVar(&o.messages, "messages", 48, "messages in all")
	flag.Uint64Var(&o.seed, "seed", 1, "of the task durations")
	flag.StringVar(&o.protocol, "protocol", "cooperative", "rebalance protocol, `cooperative or eager`")
	flag.DurationVar(&o.limit, "limit", 0, "give up after this `time`; 0: the work of the fullest partition and 18s")
	flag.BoolVar(&o.verbose, "v", false, "show what the library logs")
	flag.Parse()

	// The first Ctrl-C stops in order, a second one ends the program at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(exitCode(err))
	}
}

func exitCode(err error) int {
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	return 1
}

func (o options) check() error {
	switch {
	case o.partitions < 1 || o.partitions > 1000:
		return fmt.Errorf("-partitions is %d: set 1 to 1000", o.partitions)
	case o.messages < 1:
		return fmt.Errorf("-messages is %d: set 1 or more", o.messages)
	case o.protocol != "cooperative" && o.protocol != "eager":
		return fmt.Errorf("-protocol is %q: set cooperative or eager", o.protocol)
	case o.limit < 0:
		return fmt.Errorf("-limit is %v: set a longer time, or 0", o.limit)
	}
	return nil
}

// run prepares the cluster, plays, and judges what came of it.
func run(ctx context.Context, o options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	c, err := open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	w := makeWork(o)
	if err := c.fill(w); err != nil {
		return err
	}
	l := newLedger(w)
	return judge(os.Stdout, play(ctx, o, c, l), l, c.committed)
}

// play lets the members come and go, and stops those that are left at the end.
func play(interrupt context.Context, o options, c *cluster, l *ledger) error {
	ctx, cancel := context.WithTimeoutCause(interrupt, o.timeLimit(l.work), errLate)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	g, err := newGroup(o, c, l, fail)
	if err != nil {
		return err
	}
	stopShow := show(os.Stdout, g)
	defer stopShow()
	defer g.leaveAll()
	if err := g.scenes(ctx); interrupt.Err() == nil {
		return err
	}
	return errInterrupted
}

// scenes is the plot. Each scene begins when so many messages have been handled.
func (g *group) scenes(ctx context.Context) error {
	all := g.ledger.messages()
	if err := g.join("A"); err != nil {
		return err
	}
	if err := g.ledger.await(ctx, all/3); err != nil {
		return err
	}
	if err := g.join("B"); err != nil {
		return err
	}
	if err := g.ledger.await(ctx, all*3/4); err != nil {
		return err
	}
	g.leave("A")
	return g.ledger.await(ctx, all)
}

// judge prints the result. A play that was interrupted has none.
func judge(w io.Writer, played error, l *ledger, committed func(partition int32) (int64, error)) error {
	if errors.Is(played, errInterrupted) {
		handled, _ := l.progress()
		return fmt.Errorf("%w: %d of %d messages were handled", errInterrupted, handled, l.messages())
	}
	r, err := l.result(committed)
	if err != nil {
		return errors.Join(played, err)
	}
	fmt.Fprintln(w, r)
	if played == nil && r.lost > 0 {
		return errLost
	}
	return played
}
