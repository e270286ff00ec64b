// Package fleet runs the members of the laboratory, each in a process of its own behind a link of its own.
package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/chaos/member"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
)

// Fleet is all places for members.
type Fleet struct {
	Slots []*Slot
	Extra []*Slot // empty but for the time of a burst
}

// Slot is a place for one process at a time, which comes back under the same name. A fault takes the slot for itself, see [Slot.Take].
type Slot struct {
	Name string
	Link *kafkatest.Link

	book  *ledger.Book
	order member.Order
	taken sync.Mutex

	mu     sync.Mutex
	number int // of the process
	now    *process
}

type process struct {
	*child.Process
	name  string
	stdin interface{ Write([]byte) (int, error) }
	read  chan struct{} // closed when all that it wrote is in the book
}

// Names are those of n slots and of the extra ones, and so of the links that the brokers need.
func Names(n, extra int) (names []string) {
	for i := range n + extra {
		names = append(names, string(rune('A'+i)))
	}
	return names
}

// New makes the slots of a cluster that has links with their names.
func New(book *ledger.Book, cluster kafkatest.Linked, version string, n, extra int) *Fleet {
	f := &Fleet{}
	for i, name := range Names(n, extra) {
		link := cluster.Link(name)
		s := &Slot{Name: name, Link: link, book: book, order: member.Order{
			Addrs: link.Addrs(), Version: version, Seed: book.Header.Seed, Groups: book.Header.Groups,
		}}
		if i < n {
			f.Slots = append(f.Slots, s)
		} else {
			f.Extra = append(f.Extra, s)
		}
	}
	return f
}

// Take takes the slot for a fault, unless another one has it.
func (s *Slot) Take() bool { return s.taken.TryLock() }

// Free gives the slot back.
func (s *Slot) Free() { s.taken.Unlock() }

// Spawn starts a process in an empty slot.
func (s *Slot) Spawn() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		return fmt.Errorf("slot %s has %s already", s.Name, s.now.name)
	}
	s.number++
	order := s.order
	order.Name = fmt.Sprintf("%s.%d", s.Name, s.number)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), member.Env+"="+order.String())
	cmd.Stderr = os.Stderr
	s.book.Add(ledger.Event{Member: order.Name, Kind: ledger.Spawned})
	c, in, out, err := child.Talk(cmd)
	if err != nil {
		return err
	}
	p := &process{Process: c, name: order.Name, stdin: in, read: make(chan struct{})}
	go func() { // ends with the process, which Kill sees to at the latest
		defer close(p.read)
		defer out.Close()
		if err := s.book.Collect(out); err != nil {
			s.book.Add(ledger.Event{Member: p.name, Kind: ledger.Logged, Text: err.Error()})
		}
	}()
	s.now = p
	return nil
}

// Process is the name of the process in the slot, "" for none.
func (s *Slot) Process() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return ""
	}
	return s.now.name
}

var errEmpty = errors.New("nobody is there")

func (s *Slot) current() (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil, fmt.Errorf("slot %s: %w", s.Name, errEmpty)
	}
	return s.now, nil
}

// Kill ends the process with SIGKILL, frozen or not.
func (s *Slot) Kill() error {
	p, err := s.current()
	if err != nil {
		return err
	}
	return s.bury(p, killed)
}

const killed = "killed"

// bury ends what is left of a process and empties the slot. The book has all that it wrote before it says that it is gone.
func (s *Slot) bury(p *process, how string) error {
	if how == killed && p.Ended() {
		how = fmt.Sprint("ended by itself: ", p.Err())
	}
	err := p.Kill()
	at := ledger.Now()
	<-p.read
	s.book.Add(ledger.Event{At: at, Member: p.name, Kind: ledger.Gone, Text: how})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == p {
		s.now = nil
	}
	return err
}

// BeginStop asks the process to stop in order.
func (s *Slot) BeginStop() error {
	p, err := s.current()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdin, "stop")
	return err
}

// AwaitStop waits for the end of a process that was asked to stop, and kills it when it has not ended within the limit.
func (s *Slot) AwaitStop(limit time.Duration) error {
	p, err := s.current()
	if err != nil {
		return err
	}
	how := "stopped"
	select {
	case <-p.Done():
		if p.Err() != nil {
			how = fmt.Sprint("ended by itself: ", p.Err())
		}
	case <-time.After(limit):
		how = "killed, for it did not stop"
	}
	return s.bury(p, how)
}

// Stop is BeginStop and AwaitStop.
func (s *Slot) Stop(limit time.Duration) error {
	if err := s.BeginStop(); err != nil {
		return err
	}
	return s.AwaitStop(limit)
}

// Freeze stops the process with SIGSTOP.
func (s *Slot) Freeze() error { return s.signal((*child.Process).Freeze) }

// Thaw lets it go on.
func (s *Slot) Thaw() error { return s.signal((*child.Process).Thaw) }

func (s *Slot) signal(send func(*child.Process) error) error {
	p, err := s.current()
	if err != nil {
		return err
	}
	return send(p.Process)
}

// Close kills whatever still runs.
func (f *Fleet) Close() error {
	var errs []error
	for _, s := range append(f.Slots, f.Extra...) {
		if err := s.Kill(); !errors.Is(err, errEmpty) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
