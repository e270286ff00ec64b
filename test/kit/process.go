package kit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
)

// envMember makes the test binary a member of a group: it holds the order, as JSON.
const envMember = "EVENKEEL_KIT_MEMBER"

// Programs are the handlers of members in processes of their own, by name. The gate opens by [Process.Open].
type Programs map[string]func(*Gate) handler.Func

// Main is what TestMain calls: it runs the tests, or is the member that one of them has started.
func Main(m *testing.M, s *kafkatest.Shared, p Programs) {
	flag.Parse()
	// These tests wait for brokers, and hardly compute: more of them fit on two cores than two.
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = flag.Set("test.parallel", "8")
	}
	if order := os.Getenv(envMember); order != "" {
		os.Exit(serve(order, p))
	}
	s.Run(m)
}

// order is what a process is told.
type order struct {
	Name, Program, Group, Topic, Version string
	Addrs                                []string
	Input                                config.Input
	Order                                handler.Order
	Slots                                int
	Sticky                               bool
}

// Process is a member of the group in a process of its own, which can be killed and frozen. It ends with the test at the latest, and
// with the test's process whatever ends that.
type Process struct {
	Name string

	group *Group
	child *child.Process
	input io.Writer
	done  chan struct{} // closed when all that it told is in the history
}

// StartProcess runs a program as a member. The broker has to be one without TLS and SASL.
func (g *Group) StartProcess(name, program string) *Process {
	g.t.Helper()
	data, err := json.Marshal(order{
		Name: name, Program: program, Group: g.Name, Topic: g.Topic, Version: g.Broker.Config().Version.String(), Addrs: g.Broker.Addrs(), Input: g.Input,
		Order: g.Order, Slots: g.Slots, Sticky: g.Sticky,
	})
	g.must(err)
	p := &Process{Name: name, group: g, done: make(chan struct{})}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envMember+"="+string(data))
	cmd.Stderr = os.Stderr
	var out io.ReadCloser
	p.child, p.input, out, err = child.Talk(cmd)
	g.must(err)
	g.Note("%s starts as a process", name)
	go p.listen(out) // ends with the process, which Kill sees to at the latest
	g.t.Cleanup(p.Kill)
	return p
}

// listen takes over what the process tells.
func (p *Process) listen(out io.ReadCloser) {
	defer out.Close()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if e, err := decode(lines.Bytes()); err == nil {
			p.group.Add(e)
		}
	}
	<-p.child.Done()
	p.group.Add(Event{Member: p.Name, Kind: Gone})
	close(p.done)
}

// Open opens the gate of the program. A frozen process does it when it is thawed.
func (p *Process) Open() { p.order("open") }

// Stop asks the member to stop in order, and waits for the end of the process.
func (p *Process) Stop() {
	p.group.t.Helper()
	p.order("stop")
	select {
	case <-p.done:
	case <-time.After(patience):
		p.group.Errorf("%s did not stop within %v", p.Name, patience)
	}
}

func (p *Process) order(word string) {
	p.group.t.Helper()
	p.group.Note("%s: %s", p.Name, word)
	_, err := fmt.Fprintln(p.input, word)
	p.group.must(err)
}

// Kill ends the process with SIGKILL, frozen or not, and waits for its end. It does nothing to one that has ended.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		p.group.Note("%s is killed", p.Name)
	}
	_ = p.child.Kill()
	<-p.done
}

// Freeze stops the process with SIGSTOP: its connections stay open, and it does nothing. It returns when that was.
func (p *Process) Freeze() time.Time {
	p.group.t.Helper()
	p.group.must(p.child.Freeze())
	return p.group.Note("%s is frozen", p.Name)
}

// Thaw lets a frozen process go on.
func (p *Process) Thaw() time.Time {
	p.group.t.Helper()
	at := p.group.Note("%s is thawed", p.Name)
	p.group.must(p.child.Thaw())
	return at
}

// serve is the process. It obeys its standard input and tells the events on its standard output.
func serve(data string, programs Programs) int {
	var o order
	if err := json.Unmarshal([]byte(data), &o); err != nil {
		return complain(err)
	}
	program, ok := programs[o.Program]
	if !ok {
		return complain(fmt.Errorf("no program %q", o.Program))
	}
	gate := NewGate()
	history := &History{pass: pass}
	m, err := join(o, history, program(gate))
	if err != nil {
		return complain(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go obey(os.Stdin, map[string]func(){"open": gate.Open, "stop": stop, "weigh": m.weigh}) // ends with the process
	m.run(ctx)
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "member:", err)
	return 1
}

// pass writes one line an event; History serialises the calls.
func pass(e Event) {
	if line, err := e.encode(); err == nil {
		_, _ = os.Stdout.Write(append(bytes.TrimSpace(line), '\n'))
	}
}

// obey follows the orders of the test. Their end is the end of the test's process.
func obey(in io.Reader, orders map[string]func()) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if do := orders[lines.Text()]; do != nil {
			do()
		}
	}
	os.Exit(1)
}

// join makes the member of an order.
func join(o order, h *History, work handler.Func) (*Member, error) {
	version, err := sarama.ParseKafkaVersion(o.Version)
	plan, planErr := o.Input.Plan()
	if err := errors.Join(err, planErr); err != nil {
		return nil, err
	}
	w := &witness{member: o.Name, history: h}
	conf := sarama.NewConfig()
	conf.Version = version
	if o.Sticky {
		conf.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{stickyOf(plan)}
	}
	c, err := consumer.New(consumer.Config{
		Brokers: o.Addrs, Sarama: conf, Group: o.Group, Topics: []string{o.Topic}, Plan: plan,
		Order: o.Order, Slots: o.Slots, Logger: slog.New(&logWitness{witness: w}), Hooks: []any{w},
	}, w.around(work))
	return &Member{Consumer: c, life: &life{Name: o.Name, group: &Group{History: h}, done: make(chan struct{})}}, err
}
