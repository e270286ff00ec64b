package member

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

// Serve is the process: it consumes until its standard input says "stop", and writes its ledger to the standard output. The end of the
// input is the end of the laboratory, and its own.
func Serve(order string) int {
	var o Order
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return complain(err)
	}
	out := ledger.NewWriter(os.Stdout, o.Name)
	members, err := o.members(out)
	if err != nil {
		return complain(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go obey(os.Stdin, func() { // ends with the process
		out.Add(ledger.Event{Kind: ledger.Stopping})
		stop()
	})
	go watch(ctx, out, members) // ends with the process
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() { m.run(ctx) }) // ends with ctx, or with a fatal error
	}
	all.Wait()
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "member:", err)
	return 1
}

func obey(in io.Reader, stop func()) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if lines.Text() == "stop" {
			stop()
		}
	}
	os.Exit(1)
}

// one is the member of one group.
type one struct {
	*consumer.Consumer
	*witness
}

func (o Order) members(out *ledger.Writer) (list []one, err error) {
	var calls atomic.Int64
	for _, g := range o.Groups {
		w := &witness{group: g.Name, ledger: out, calls: &calls}
		c, err := o.consumer(g, w)
		if err != nil {
			return nil, err
		}
		list = append(list, one{c, w})
	}
	return list, nil
}

func (o Order) consumer(g ledger.Group, w *witness) (*consumer.Consumer, error) {
	plan, err := Plan(g.Eager)
	if err != nil {
		return nil, err
	}
	conf, err := o.saramaConfig()
	if err != nil {
		return nil, err
	}
	return consumer.New(consumer.Config{
		Brokers: o.Addrs, Sarama: conf, Group: g.Name, Topics: []string{g.Name}, Plan: plan,
		Order: orderOf(g.Order), Slots: g.Slots, Retry: retry.Policy{Initial: 100 * time.Millisecond, Max: time.Second},
		Logger: slog.New(&log{witness: w}), Hooks: []any{w},
	}, w.around(work(o.Seed)))
}

func (m one) run(ctx context.Context) {
	err := m.Run(ctx)
	m.add(ledger.Event{Kind: ledger.Stopped, Err: text(err)})
}
