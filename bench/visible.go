package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/bench/peers"
)

const (
	visibleTasks = 40
	visibleTask  = 100 * time.Millisecond
)

var millis = unit{name: "ms"}

// visible takes the time from a handler's return to the moment in which others can read the commit.
func visible(l *lab) ([]figure, error) {
	f, err := l.filled(fill{partitions: 1, messages: visibleTasks, keys: 1, turns: true, bytes: 16})
	if err != nil {
		return nil, err
	}
	g := gather("visible")
	t := &taking{lab: l, row: g.row, order: peers.ByPartition}
	err = t.each(func(s side) error {
		late, err := l.visibleOf(s, f)
		if err == nil {
			g.add(s.name, "_p50", millis, inMillis(late.at(0.5)))
			g.add(s.name, "_p99", millis, inMillis(late.at(0.99)))
		}
		return err
	})
	return g.figures(), err
}

func (l *lab) visibleOf(s side, f *filled) (latencies, error) {
	st := l.stage(spec{
		Peer: s.name, Settings: peers.Settings{Order: peers.ByPartition, Slots: 1, Task: visibleTask}, Sleep: visibleTask,
	}, f)
	defer st.end()
	watch, err := l.watchCommits(st.spec.Group, f)
	if err != nil {
		return nil, err
	}
	defer watch.stop()
	p, _, err := st.begin()
	if err != nil {
		return nil, err
	}
	err = st.until(p, func(r ledger.Runs) bool { return watch.latest() == visibleTasks })
	return lagOf(st.runs(), watch.list()), err
}

// commitSeen is when somebody else has read an offset for the first time.
type commitSeen struct {
	next int64
	at   time.Time
}

// lagOf is how long each task that was done had to wait for a commit beyond it. Those that had none by the end are left out.
func lagOf(runs ledger.Runs, seen []commitSeen) (late latencies) {
	for _, r := range runs {
		i := slices.IndexFunc(seen, func(c commitSeen) bool { return c.next > r.Offset })
		if r.How == ledger.Done && i >= 0 {
			late = append(late, max(0, seen[i].at.Sub(r.End)))
		}
	}
	return late
}

// commitReader reads what a group has committed for partition 0, again and again.
type commitReader struct {
	client sarama.Client
	cancel context.CancelFunc
	done   chan struct{}
	seen   chan []commitSeen // one, the list so far
}

func (l *lab) watchCommits(group string, f *filled) (*commitReader, error) {
	client, err := sarama.NewClient(f.broker.Addrs(), f.broker.Config())
	if err != nil {
		return nil, err
	}
	coordinator, err := client.Coordinator(group)
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(l.ctx)
	c := &commitReader{client: client, cancel: cancel, done: make(chan struct{}), seen: make(chan []commitSeen, 1)}
	c.seen <- nil
	go func() { // ends with stop
		defer close(c.done)
		for ctx.Err() == nil {
			c.look(coordinator, group, f.name)
			time.Sleep(time.Millisecond)
		}
	}()
	return c, nil
}

func (c *commitReader) look(coordinator *sarama.Broker, group, topic string) {
	req := &sarama.OffsetFetchRequest{Version: 5, ConsumerGroup: group}
	req.AddPartition(topic, 0)
	resp, err := coordinator.FetchOffset(req)
	now := time.Now()
	if err != nil {
		return
	}
	if block := resp.GetBlock(topic, 0); block != nil && block.Err == sarama.ErrNoError && block.Offset > c.latest() {
		c.seen <- append(<-c.seen, commitSeen{block.Offset, now})
	}
}

func (c *commitReader) list() []commitSeen {
	list := <-c.seen
	c.seen <- list
	return list
}

// latest is the highest offset that was seen, 0 at first.
func (c *commitReader) latest() int64 {
	list := c.list()
	if len(list) == 0 {
		return 0
	}
	return slices.MaxFunc(list, func(a, b commitSeen) int { return cmp.Compare(a.next, b.next) }).next
}

func (c *commitReader) stop() {
	c.cancel()
	<-c.done
	_ = c.client.Close()
}
