// Package ledger keeps what members tell of their tasks, each a process of its own, and computes what a rebalance has cost. It starts
// nothing and reads no clock.
package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is what has happened to a task.
type Kind string

// The kinds of events, as they stand in a member's output.
const (
	Started Kind = "start"
	Ended   Kind = "end" // to its own end
	Cut     Kind = "cut" // because its context has ended
)

// Event is a line of a member.
type Event struct {
	Kind      Kind
	Partition int32
	Offset    int64
	At        time.Time
}

// String is the line.
func (e Event) String() string {
	return fmt.Sprintf("%s %d %d %d", e.Kind, e.Partition, e.Offset, e.At.UnixNano())
}

// Parse reads a line. Others than those of tasks are no error and no event.
func Parse(line string) (e Event, ok bool, err error) {
	words := strings.Fields(line)
	if len(words) == 0 || !Kind(words[0]).known() {
		return e, false, nil
	}
	if len(words) != 4 {
		return e, false, fmt.Errorf("a task's line has four words: %q", line)
	}
	partition, err := strconv.ParseInt(words[1], 10, 32)
	if err != nil {
		return e, false, fmt.Errorf("partition in %q: %w", line, err)
	}
	offset, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return e, false, fmt.Errorf("offset in %q: %w", line, err)
	}
	at, err := ParseTime(words[3])
	if err != nil {
		return e, false, fmt.Errorf("time in %q: %w", line, err)
	}
	return Event{Kind(words[0]), int32(partition), offset, at}, true, nil
}

func (k Kind) known() bool { return k == Started || k == Ended || k == Cut }

// ParseTime reads nanoseconds since 1970, which is what members of one machine have in common.
func ParseTime(word string) (time.Time, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	return time.Unix(0, n), err
}
