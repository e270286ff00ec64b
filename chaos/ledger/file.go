package ledger

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Writer writes events, one line and one write each. Safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	out  io.Writer
	name string // of the member, for events without one
}

// NewWriter writes the events of a member.
func NewWriter(out io.Writer, member string) *Writer { return &Writer{out: out, name: member} }

// Add stamps an event that has no time, and writes it. An event that cannot be written must not take effect: then it panics.
func (w *Writer) Add(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e = e.stamped()
	e.Member = cmp.Or(e.Member, w.name)
	if err := write(w.out, e); err != nil {
		panic(fmt.Sprintf("ledger: %v", err))
	}
}

func (e Event) stamped() Event {
	if e.At == 0 {
		e.At = Now()
	}
	if e.Wall == 0 {
		e.Wall = time.Now().UnixNano()
	}
	return e
}

func write(out io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

// Book collects the events of a run, in memory and in a file. Safe for concurrent use.
type Book struct {
	Header Header

	mu     sync.Mutex
	events []Event
	out    io.Writer
	err    error // the first of out
}

// NewBook begins a book with its header. out may be nil.
func NewBook(h Header, out io.Writer) *Book {
	b := &Book{Header: h, out: out}
	if out != nil {
		b.err = write(out, h)
	}
	return b
}

// Add takes an event, and stamps one that has no time.
func (b *Book) Add(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e = e.stamped()
	b.events = append(b.events, e)
	if b.out != nil && b.err == nil {
		b.err = write(b.out, e)
	}
}

// Collect takes the lines of a member until they end. A line that was torn by a kill is left out; one that is none is an error.
func (b *Book) Collect(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%q is no event: %w", line, err)
		}
		b.Add(e)
	}
}

// Err is what went wrong with the file.
func (b *Book) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Events returns all so far, by their time.
func (b *Book) Events() []Event {
	b.mu.Lock()
	all := slices.Clone(b.events)
	b.mu.Unlock()
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return all
}

// Count is how many events so far match.
func (b *Book) Count(match func(Event) bool) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if match(e) {
			n++
		}
	}
	return n
}

// Read reads a book that was written.
func Read(in io.Reader) (*Book, error) {
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("a ledger begins with a header: %w", err)
	}
	b := &Book{}
	if err := json.Unmarshal(first, &b.Header); err != nil {
		return nil, fmt.Errorf("the first line is no header: %w", err)
	}
	return b, b.Collect(lines)
}
