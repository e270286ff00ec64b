package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/ledger"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
)

// process is a member in a process of its own, which does not outlive this one.
type process struct {
	lab    *lab
	member int // its number in the ledger
	ledger *ledger.Ledger
	cmd    *exec.Cmd
	child  *child.Process
	in     io.WriteCloser
	log    bytes.Buffer
	errs   error // lines that mean nothing
	once   sync.Once

	ready    chan time.Time // one: when it was about to join
	states   chan state
	outcomes chan outcome  // one
	done     chan struct{} // closed when it has ended
}

// state is what a member holds.
type state struct {
	heap       float64 // megabytes, live
	goroutines float64 // threads of Java
}

// spawn starts a member that tells the ledger.
func (l *lab) spawn(s spec, member int, book *ledger.Ledger) (*process, error) {
	cmd, err := l.command(s)
	if err != nil {
		return nil, err
	}
	p := &process{
		lab: l, member: member, ledger: book, cmd: cmd,
		ready: make(chan time.Time, 1), states: make(chan state, 1), outcomes: make(chan outcome, 1), done: make(chan struct{}),
	}
	return p, p.start()
}

func (p *process) start() (err error) {
	p.cmd.Stderr = &p.log
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	// A StdoutPipe would be closed when the process has ended, with what nobody has read yet.
	out, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.cmd.Stdout = w
	p.child, err = child.Start(p.cmd, "")
	w.Close() // the process has its own
	if err != nil {
		out.Close()
		return err
	}
	go p.read(out) // ends with the process
	return nil
}

// command is this program once more, or the one in Java.
func (l *lab) command(s spec) (*exec.Cmd, error) {
	if s.Peer == parallelConsumerName {
		if !l.findJava() {
			return nil, errNoJava
		}
		return l.java.member(l.ctx, s), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := s.encode()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(l.ctx, self)
	cmd.Env = append(os.Environ(), memberEnv+"="+text)
	return cmd, nil
}

func (p *process) read(out io.ReadCloser) {
	defer close(p.done)
	defer out.Close()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.errs = errors.Join(p.errs, p.hear(lines.Text()))
	}
	<-p.child.Done()
	p.errs = errors.Join(p.errs, p.child.Err(), p.child.Kill()) // Kill dismisses who watches over it
}

// hear takes a line of the member.
func (p *process) hear(line string) error {
	e, ok, err := ledger.Parse(line)
	if ok {
		p.ledger.Add(p.member, e)
	}
	if ok || err != nil {
		return err
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "ready":
		at, err := ledger.ParseTime(rest)
		p.ready <- at
		return err
	case "state":
		var s state
		_, err := fmt.Sscan(rest, &s.heap, &s.goroutines)
		s.heap /= megabyte
		p.states <- s
		return err
	case "outcome":
		o, err := parseOutcome(rest)
		p.outcomes <- o
		return err
	default:
		return nil // some library's
	}
}

// ask returns what the member holds after a garbage collection.
func (p *process) ask() (state, error) {
	if _, err := io.WriteString(p.in, "state\n"); err != nil {
		return state{}, err
	}
	return awaitOf(p, p.states)
}

// awaitOf waits for something that the member tells.
func awaitOf[T any](p *process, c <-chan T) (v T, err error) {
	select {
	case v := <-c:
		return v, nil
	case <-p.done:
		return v, fmt.Errorf("the member has ended: %w\n%s", p.errs, tailOf(p.log.Bytes()))
	case <-time.After(patience):
		return v, errLate
	case <-p.lab.ctx.Done():
		return v, context.Cause(p.lab.ctx)
	}
}

func tailOf(log []byte) []byte { return log[max(0, len(log)-500):] }

// leave asks the member to stop in order, and does not wait.
func (p *process) leave() time.Time {
	p.once.Do(func() { _ = p.in.Close() })
	return time.Now()
}

// kill ends it at once, and waits.
func (p *process) kill() time.Time {
	_ = p.cmd.Process.Kill()
	at := time.Now()
	<-p.done
	p.once.Do(func() { _ = p.in.Close() })
	p.ledger.Kill(p.member, at)
	return at
}
