package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
)

const (
	// eachNote and eachRow are how often notes and rows are printed.
	eachNote = 100 * time.Millisecond
	eachRow  = time.Second
	// cellWidth fits "A#12 2.9s": six partitions make lines of 79 columns.
	cellWidth = 10
)

const legend = `%d messages of 1 to 3 s each. A row a second: how many messages are done, how many of
them are committed, and for each partition who holds it, which message runs, for how long.

`

// note is something that is worth a line of its own.
type note struct {
	at   time.Duration
	text string
}

func (l *ledger) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteLocked(fmt.Sprintf(format, args...))
}

func (l *ledger) noteLocked(text string) {
	l.notes = append(l.notes, note{at: time.Since(l.began), text: text})
}

func (l *ledger) takeNotes() []note {
	l.mu.Lock()
	defer l.mu.Unlock()
	notes := l.notes
	l.notes = nil
	return notes
}

// show prints until the returned function is called, which waits for the last line.
func show(w io.Writer, g *group) (stop func()) {
	s := &screen{w: w, group: g}
	s.head()
	done := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { s.loop(done) }) // ends with done
	return func() {
		close(done)
		beside.Wait()
	}
}

// screen belongs to the goroutine of its loop.
type screen struct {
	w     io.Writer
	group *group
	last  time.Duration // of the last row
}

func (s *screen) loop(done <-chan struct{}) {
	tick := time.NewTicker(eachNote)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.notes()
			if now := time.Since(s.group.ledger.began); now-s.last >= eachRow {
				s.row(now)
				s.last = now.Truncate(eachRow)
			}
		case <-done:
			s.notes()
			return
		}
	}
}

func (s *screen) notes() {
	for _, n := range s.group.ledger.takeNotes() {
		fmt.Fprintf(s.w, "%s  -- %s\n", clock(n.at), n.text)
	}
}

func (s *screen) head() {
	l := s.group.ledger
	fmt.Fprintf(s.w, legend, l.messages())
	cells := make([]string, len(l.work))
	for p := range cells {
		cells[p] = fmt.Sprintf("p%d", p)
	}
	s.line("   time done comm", cells)
}

// row says how things stand, by asking each member for its status.
func (s *screen) row(now time.Duration) {
	l := s.group.ledger
	cells := make([]string, len(l.work))
	for _, m := range s.group.present() {
		for _, c := range m.consumer.Status().Claims {
			if cell := &cells[c.Partition]; *cell == "" || len(c.Tasks) > 0 {
				*cell = m.name + running(c)
			}
		}
	}
	for p := range cells {
		if cells[p] != "" && l.done(p) {
			cells[p] += " done"
		}
	}
	handled, committed := l.progress()
	s.line(fmt.Sprintf("%s %4d %4d", clock(now), handled, committed), cells)
}

func (s *screen) line(begin string, cells []string) {
	var b strings.Builder
	b.WriteString(begin)
	for _, cell := range cells {
		fmt.Fprintf(&b, "  %-*s", cellWidth-2, cell)
	}
	fmt.Fprintln(s.w, strings.TrimRight(b.String(), " "))
}

func running(c consumer.ClaimStatus) string {
	if len(c.Tasks) == 0 {
		return ""
	}
	return fmt.Sprintf("#%d %.1fs", c.Tasks[0].Offset, c.Tasks[0].Age.Seconds())
}

func clock(t time.Duration) string { return fmt.Sprintf("%6.1fs", t.Seconds()) }

// describe says what an assignment changes, and what goes on through it: runs is what the member runs now.
func describe(member string, r consumer.Rebalance, runs map[int32]int64) string {
	held := flat(r.Assigned)
	parts := []string{"holds " + numbers(held)}
	if gained := flat(r.Gained); len(gained) > 0 {
		parts = append(parts, "new "+numbers(gained))
	}
	if lost := flat(r.Lost); len(lost) > 0 {
		parts = append(parts, "gives up "+numbers(lost))
	}
	var on []string
	for _, p := range held {
		if offset, ok := runs[p]; ok {
			on = append(on, fmt.Sprintf("%d#%d", p, offset))
		}
	}
	if len(on) > 0 {
		parts = append(parts, "goes on with "+strings.Join(on, " "))
	}
	return fmt.Sprintf("%s, generation %d: %s", member, r.Generation, strings.Join(parts, ", "))
}

func numbers(partitions []int32) string {
	if len(partitions) == 0 {
		return "nothing"
	}
	return strings.Trim(fmt.Sprint(partitions), "[]")
}

// flat is for assignments of one topic.
func flat(p consumer.Partitions) []int32 {
	var all []int32
	for _, list := range p {
		all = append(all, list...)
	}
	slices.Sort(all)
	return all
}
