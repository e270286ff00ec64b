package contract

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

const (
	// patience is how long a condition may take to come true. It is long: what it bounds is a hang, not a speed.
	patience = 60 * time.Second
	poll     = 10 * time.Millisecond
)

// rig is a topic, a group and the members of one case.
type rig struct {
	*testing.T
	cluster Cluster
	topic   string
	eager   bool
	input   config.Input
	retry   retry.Policy
	seen    *ledger
	members []*memberRun
}

func newRig(t *testing.T, c Cluster, eager bool) *rig {
	return &rig{
		T: t, cluster: c, topic: c.Name(t), eager: eager, seen: newLedger(),
		input: config.Input{
			Expected: time.Minute, Eager: eager, Heartbeat: 200 * time.Millisecond, CrashDetection: 6 * time.Second,
			Grace: config.NoGrace, StopGrace: config.NoGrace, HoldLimit: config.NoHold,
		},
		retry: retry.Policy{Initial: 20 * time.Millisecond, Max: 20 * time.Millisecond},
	}
}

// fill creates the topic with n messages on each partition; the values are their offsets.
func (r *rig) fill(partitions int32, n int) {
	r.Helper()
	if err := r.cluster.CreateTopic(r.topic, partitions); err != nil {
		r.Fatal(err)
	}
	values := make([]string, n)
	for i := range values {
		values[i] = strconv.Itoa(i)
	}
	for p := range partitions {
		if err := r.cluster.Produce(r.topic, p, values...); err != nil {
			r.Fatal(err)
		}
	}
}

// memberRun is a member and its Run.
type memberRun struct {
	*consumer.Consumer
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// start runs a member named who with the handler f; every start and end is recorded.
func (r *rig) start(who string, f handler.Func) *memberRun {
	r.Helper()
	plan, err := r.input.Plan()
	if err != nil {
		r.Fatal(err)
	}
	c, release, err := r.cluster.Consumer(consumer.Config{
		Group: r.topic, Topics: []string{r.topic}, Plan: plan, Retry: r.retry,
		Logger: slog.New(slog.DiscardHandler),
	}, r.seen.around(who, f))
	if err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &memberRun{Consumer: c, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		m.err = c.Run(ctx)
		release()
	}()
	r.members = append(r.members, m)
	r.Cleanup(func() { m.stop(r.T) })
	return m
}

// stop ends the member.
func (m *memberRun) stop(t *testing.T) {
	t.Helper()
	m.cancel()
	select {
	case <-m.done:
	case <-time.After(patience):
		t.Error("Run has not returned")
	}
	if m.err != nil {
		t.Errorf("Run: %v", m.err)
	}
}

// eventually waits for a condition.
func (r *rig) eventually(what string, holds func() bool) {
	r.Helper()
	for begin := time.Now(); !holds(); time.Sleep(poll) {
		if time.Since(begin) > patience {
			r.Fatalf("never: %s\n%s", what, r.state())
		}
	}
}

func (r *rig) state() string {
	var text strings.Builder
	text.WriteString(r.seen.String())
	for i, m := range r.members {
		fmt.Fprintf(&text, "member %d: %+v\n", i, m.Status())
	}
	return text.String()
}

func (r *rig) committed(p int32) int64 {
	o, _, err := r.cluster.Committed(r.topic, r.topic, p)
	if err != nil {
		r.Fatal(err)
	}
	return o
}

// allCommitted says that every partition is committed up to n.
func (r *rig) allCommitted(partitions int32, n int64) func() bool {
	return func() bool {
		for p := range partitions {
			if r.committed(p) != n {
				return false
			}
		}
		return true
	}
}

func (r *rig) wantCommitted(p int32, want int64) {
	r.Helper()
	if got := r.committed(p); got != want {
		r.Errorf("partition %d: committed %d, want %d\n%s", p, got, want, r.seen)
	}
}

// call is one handler call.
type call struct {
	who       string
	partition int32
	offset    int64
	begin     int // place in the order of all starts and ends
	end       int // 0 while it runs
	err       error
}

// ledger keeps every handler call of all members.
type ledger struct {
	mu    sync.Mutex
	clock int
	calls []*call
}

func newLedger() *ledger { return &ledger{} }

func (l *ledger) around(who string, f handler.Func) handler.Func {
	return func(ctx context.Context, t *handler.Task) (err error) {
		c := l.begin(who, t)
		defer func() { l.finish(c, err) }()
		return f(ctx, t)
	}
}

func (l *ledger) begin(who string, t *handler.Task) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	c := &call{who: who, partition: t.Partition, offset: t.Offset, begin: l.clock}
	l.calls = append(l.calls, c)
	return c
}

func (l *ledger) finish(c *call, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	c.end, c.err = l.clock, err
}

// all returns copies of the calls that match.
func (l *ledger) all(match func(c call) bool) (list []call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		if match(*c) {
			list = append(list, *c)
		}
	}
	return list
}

func (l *ledger) starts() int { return len(l.all(func(call) bool { return true })) }

func (l *ledger) running() int { return len(l.all(func(c call) bool { return c.end == 0 })) }

func (l *ledger) of(p int32) []call { return l.all(func(c call) bool { return c.partition == p }) }

func (l *ledger) by(who string) []call { return l.all(func(c call) bool { return c.who == who }) }

// offsets returns the offsets of the calls in the order of their starts.
func offsets(calls []call) []int64 {
	list := make([]int64, len(calls))
	for i, c := range calls {
		list[i] = c.offset
	}
	return list
}

func (l *ledger) String() string {
	var text strings.Builder
	for _, c := range l.all(func(call) bool { return true }) {
		fmt.Fprintf(&text, "%s %d@%d start %d end %d %v\n", c.who, c.partition, c.offset, c.begin, c.end, c.err)
	}
	return text.String()
}
