package kit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind is what happened.
type Kind string

// Kinds of events, and which fields beyond At, Member and Kind each has.
const (
	Started   Kind = "started"       // a handler call: Partition, Offset, Key, Call; the last two in all three of a call
	Returned  Kind = "returned"      // Partition, Offset, Err of the handler
	Cancelled Kind = "cancelled"     // the context of a handler call ended under it: Partition, Offset, Err is the cause
	Claimed   Kind = "claimed"       // Partition
	Released  Kind = "released"      // Partition, Text: the reason, and how many tasks were abandoned
	Committed Kind = "committed"     // Partition, Offset: stored by the broker
	Refused   Kind = "not committed" // Partition, Offset, Err: the answer
	Dropped   Kind = "dropped"       // Partition, Offset, Err: of a commit that is not sent any more, for the partition was given up
	Stored    Kind = "stored"        // Partition, Offset, Text: the metadata, as somebody else finds it, see [Group.Watch]
	Assigned  Kind = "assigned"      // Generation, Text: all partitions the member holds now
	Ended     Kind = "session ended" // MemberID, Generation, Err: the cause, Text: the kind
	Troubled  Kind = "error"         // Err, of the ErrorHook
	Logged    Kind = "log"           // Text, of level info and above
	Stopped   Kind = "stopped"       // Run has returned: Err
	Gone      Kind = "gone"          // the process of the member has ended, in whatever way
	Expelled  Kind = "expelled"      // the coordinator was made to let go of the member, which has yet to hear of it
	Weighed   Kind = "weighed"       // Offset: the heap of the member's process, Text: a [Weight] if it is one
	Noted     Kind = "note"          // Text, of the test itself
)

// Event is something that a member did.
type Event struct {
	At         time.Time
	Member     string
	Kind       Kind
	Partition  int32
	Offset     int64
	Key        string // of the message, "" for none
	Call       int64  // number of the handler call in its member
	MemberID   string
	Generation int32
	Text       string
	Err        error
}

// String is one line of the history.
func (e Event) String() string {
	parts := []string{fmt.Sprintf("%-8s %-13s", e.Member, e.Kind)}
	switch e.Kind {
	case Started, Returned, Cancelled, Committed, Refused, Dropped, Stored:
		parts = append(parts, fmt.Sprintf("%d@%d", e.Partition, e.Offset), e.Key)
	case Claimed, Released:
		parts = append(parts, strconv.Itoa(int(e.Partition)))
	case Assigned, Ended:
		parts = append(parts, fmt.Sprint("generation ", e.Generation), e.MemberID)
	default: // of no partition and no generation
	}
	parts = append(parts, e.Text)
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, " ")
}

// wireEvent is an Event on its way from another process: an error keeps its text only.
type wireEvent struct {
	Event
	Err string
}

func (e Event) encode() ([]byte, error) {
	w := wireEvent{Event: e}
	if e.Err != nil {
		w.Err, w.Event.Err = e.Err.Error(), nil
	}
	return json.Marshal(w)
}

func decode(line []byte) (Event, error) {
	var w wireEvent
	err := json.Unmarshal(line, &w)
	if w.Err != "" {
		w.Event.Err = errors.New(w.Err)
	}
	return w.Event, err
}

// History is what happened, in the order in which it was told. Safe for concurrent use.
type History struct {
	mu     sync.Mutex
	events []Event
	pass   func(Event) // instead of keeping them, in a process of its own
}

// Add tells of an event; a zero At means now.
func (h *History) Add(e Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pass != nil {
		h.pass(e)
		return
	}
	h.events = append(h.events, e)
}

// Note puts a line of the test's own into the history.
func (h *History) Note(format string, args ...any) time.Time {
	now := time.Now()
	h.Add(Event{At: now, Member: "test", Kind: Noted, Text: fmt.Sprintf(format, args...)})
	return now
}

// Forget drops all events: for a test that measures its memory.
func (h *History) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = nil
}

// Match says whether an event counts.
type Match func(Event) bool

// By matches events of a member.
func By(member string) Match { return func(e Event) bool { return e.Member == member } }

// OnPartition matches events of a partition.
func OnPartition(p int32) Match { return func(e Event) bool { return e.Partition == p } }

// AtOffset matches events of an offset.
func AtOffset(o int64) Match { return func(e Event) bool { return e.Offset == o } }

// From matches events of an offset or a later one.
func From(o int64) Match { return func(e Event) bool { return e.Offset >= o } }

// After matches what happened later than t.
func After(t time.Time) Match { return func(e Event) bool { return e.At.After(t) } }

// Before matches what happened earlier than t.
func Before(t time.Time) Match { return func(e Event) bool { return e.At.Before(t) } }

// Well matches events without an error.
func Well() Match { return func(e Event) bool { return e.Err == nil } }

// Is matches events with an error that is target. Errors of members in processes of their own have lost their identity.
func Is(target error) Match { return func(e Event) bool { return errors.Is(e.Err, target) } }

// Saying matches events whose text or error contains part.
func Saying(part string) Match {
	return func(e Event) bool {
		return strings.Contains(e.Text, part) || e.Err != nil && strings.Contains(e.Err.Error(), part)
	}
}

// Find returns the events of a kind that match all of ms, in order.
func (h *History) Find(k Kind, ms ...Match) (found []Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e.Kind == k && !slices.ContainsFunc(ms, func(m Match) bool { return !m(e) }) {
			found = append(found, e)
		}
	}
	return found
}

// Count is how many events [History.Find] finds.
func (h *History) Count(k Kind, ms ...Match) int { return len(h.Find(k, ms...)) }

// Last returns the last event that Find finds.
func (h *History) Last(k Kind, ms ...Match) (e Event, ok bool) {
	found := h.Find(k, ms...)
	if len(found) == 0 {
		return e, false
	}
	return found[len(found)-1], true
}

// First returns the first event that Find finds.
func (h *History) First(k Kind, ms ...Match) (e Event, ok bool) {
	found := h.Find(k, ms...)
	if len(found) == 0 {
		return e, false
	}
	return found[0], true
}

// longestStory is how many of the last events a failed test prints. Of those before it prints what is rare.
const longestStory = 150

// rare says that the event is one of the few by which a history is understood, however long ago it was.
func (e Event) rare() bool {
	switch e.Kind {
	case Claimed, Released, Assigned, Ended, Troubled, Logged, Stopped, Gone, Expelled, Noted:
		return true
	default:
		return false
	}
}

// String is the end of the history, and what is rare of its beginning, with seconds since then.
func (h *History) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for i, e := range h.events {
		if e.rare() || i >= len(h.events)-longestStory {
			fmt.Fprintf(&b, "%8.3f %v\n", e.At.Sub(h.events[0].At).Seconds(), e)
		}
	}
	return b.String()
}
