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
)

// process is a member in a process of its own.
type process struct {
	lab    *lab
	member int // its number in the ledger
	ledger *ledger.Ledger
	cmd    *exec.Cmd
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
	cmd.Stderr = &p.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(out) // ends with the process
	return p, nil
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

func (p *process) read(out io.Reader) {
	defer close(p.done)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.errs = errors.Join(p.errs, p.hear(lines.Text()))
	}
	p.errs = errors.Join(p.errs, p.cmd.Wait())
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
