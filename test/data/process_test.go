package data_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// orderEnv makes this test binary a member of a group, in a process of its own that can be killed. Its value is an [order].
const orderEnv = "EVENKEEL_TEST_MEMBER"

// order is what such a process does.
type order struct {
	Name    string
	Brokers []string
	Group   string
	Topic   string
	Version string
	Input   config.Input
	Work    string // a key of works
	Weigh   bool   // report the heap again and again
}

// report is a line that it writes.
type report struct {
	Kind      kit.Kind
	Partition int32
	Offset    int64
	Text      string
	Heap      uint64
}

// works are the handlers that a process can have.
func works() map[string]handler.Func {
	return map[string]handler.Func{
		"instant": instant,
		"hold": func(ctx context.Context, _ *handler.Task) error {
			<-ctx.Done()
			return context.Cause(ctx)
		},
		"a second": func(ctx context.Context, _ *handler.Task) error { return lasting(ctx, time.Second) },
		"fail at 2": func(_ context.Context, t *handler.Task) error {
			if t.Offset == 2 {
				return errors.New("not today")
			}
			return nil
		},
		"do one": func(ctx context.Context, t *handler.Task) error {
			if t.Offset > 0 {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return lasting(ctx, time.Second)
		},
	}
}

func lasting(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// obey is the main function of the process. It ends when its parent does: standard input is closed then.
func obey(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with the parent
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	c, err := o.consumer()
	if err != nil {
		return err
	}
	if o.Weigh {
		go weigh(ctx) // ends with ctx
	}
	return c.Run(ctx)
}

func (o *order) consumer() (*consumer.Consumer, error) {
	plan, err := o.Input.Plan()
	if err != nil {
		return nil, err
	}
	base := sarama.NewConfig()
	if base.Version, err = sarama.ParseKafkaVersion(o.Version); err != nil {
		return nil, err
	}
	return consumer.New(consumer.Config{
		Brokers: o.Brokers, Sarama: base, Group: o.Group, Topics: []string{o.Topic}, Plan: plan,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Hooks: []any{teller{}},
	}, told(works()[o.Work]))
}

// told tells the parent of each call.
func told(work handler.Func) handler.Func {
	return func(ctx context.Context, t *handler.Task) error {
		tell(report{Kind: kit.Started, Partition: t.Partition, Offset: t.Offset})
		err := work(ctx, t)
		if err == nil {
			tell(report{Kind: kit.Returned, Partition: t.Partition, Offset: t.Offset})
		}
		return err
	}
}

// teller tells the parent of each commit.
type teller struct{}

func (teller) OnCommit(c consumer.Commit) {
	if c.Err == nil {
		tell(report{Kind: kit.Committed, Partition: c.Partition, Offset: c.Offset})
	}
}

var telling sync.Mutex

func tell(r report) {
	telling.Lock()
	defer telling.Unlock()
	_ = json.NewEncoder(os.Stdout).Encode(r) // a parent that is gone ends this process
}

// weigh reports what is reachable, ten times a second.
func weigh(ctx context.Context) {
	for ctx.Err() == nil {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		tell(report{Kind: weighed, Heap: m.HeapAlloc})
		_ = lasting(ctx, 100*time.Millisecond)
	}
}

const weighed kit.Kind = "weighed" // of a process: Offset is the heap in bytes

// process is a member of a group in a process of its own.
type process struct {
	g    *kit.Group
	name string
	cmd  *exec.Cmd
	in   io.Closer
	done chan struct{} // closed when it has ended
}

// startProcess runs a member in a process of its own until it is killed, at the latest at the end of the test.
func startProcess(t *testing.T, g *kit.Group, name, work string, change ...func(*order)) *process {
	t.Helper()
	o := order{
		Name: name, Brokers: g.Broker.Addrs(), Version: g.Broker.Config().Version.String(), Group: g.Name, Topic: g.Topic,
		Input: g.Input, Work: work,
	}
	for _, f := range change {
		f(&o)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{g: g, name: name, cmd: exec.Command(os.Args[0]), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), orderEnv+"="+string(text))
	p.run(t)
	t.Cleanup(p.kill)
	return p
}

func (p *process) run(t *testing.T) {
	t.Helper()
	in, err := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	log, err3 := p.cmd.StderrPipe()
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	p.in = in
	p.g.Note("%s starts", p.name)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		defer close(p.done)
		var reading sync.WaitGroup
		reading.Go(func() { p.listen(out) })
		reading.Go(func() { p.overhear(log) })
		reading.Wait()
		_ = p.cmd.Wait() // it was killed, as a rule
	}()
}

func (p *process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			p.g.Add(kit.Event{Member: p.name, Kind: kit.Noted, Text: lines.Text()})
			continue
		}
		p.g.Add(kit.Event{
			Member: p.name, Kind: r.Kind, Partition: r.Partition, Offset: max(r.Offset, int64(r.Heap)), Text: r.Text,
		})
	}
}

// overhear takes the log and what the runtime has to say about a crash or a race.
func (p *process) overhear(log io.Reader) {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		p.g.Add(kit.Event{Member: p.name, Kind: kit.Logged, Text: lines.Text()})
	}
}

// kill ends the process with SIGKILL, and returns when it is gone.
func (p *process) kill() {
	p.g.Note("%s is killed", p.name)
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
	_ = p.in.Close()
}
