// Package ledger is what is written down of a run: by the members before it takes effect, by the laboratory, and by the brokers. It
// lies outside the members, so that a killed one has left all that it did.
package ledger

import (
	"fmt"
	"strings"
	"time"
)

// Kind is what happened.
type Kind string

// What a member writes. All but Sample, Stopping and Stopped belong to one of its groups.
const (
	Started  Kind = "started"   // a handler call begins: Partition, Offset, Key, Call, Generation of the latest assignment
	Ended    Kind = "ended"     // it is about to return: the same and Err, "" for success
	Canceled Kind = "cancelled" // its context ended under it: the same, Err is the cause
	Claimed  Kind = "claimed"   // a claim begins: Partition, Generation of the latest assignment
	Released Kind = "released"  // a claim ends: Partition, Text is the reason, Took how long it waited
	Answered Kind = "answered"  // a commit was answered, or is given up: Partition, Offset, Err "" where it is stored, Text
	Assigned Kind = "assigned"  // an assignment is heard: Generation, Text
	Session  Kind = "session"   // a session has ended: ID, Generation, Text is its kind, Err the cause, Own whether the member began the round
	Leads    Kind = "leads"     // the member plans a round: it leads the group
	Logged   Kind = "log"       // a log entry at level warn or above: Text
	Sampled  Kind = "sample"    // Usage
	Stopping Kind = "stopping"  // it was asked to stop in order
	Stopped  Kind = "stopped"   // Run has returned: Err
)

// Late is the text of an end that came after the end of its context, which a goroutine of its own writes down.
const Late = "late"

// What a member begins a round for, in Own.
const (
	AsksAgain = "asks"  // a partition is to move
	HasGrown  = "grown" // a topic has more partitions
)

// Unanswered is the text of a commit of which nobody knows whether it is stored: it may be later.
const Unanswered = "unanswered"

// What the laboratory writes.
const (
	Spawned  Kind = "spawned"  // a process begins
	Gone     Kind = "gone"     // a process has ended, in whatever way
	Fault    Kind = "fault"    // a fault begins: Fault is its number, Text its name, Class, Member whom it hits if it is one
	Calm     Kind = "calm"     // it has ended
	LeftOut  Kind = "left out" // a fault is not made, for another one has what it is for, or there is nothing left to do: Fault, Text
	Grown    Kind = "grown"    // a topic has got more partitions: Partition is their number
	Sent     Kind = "sent"     // a message is acknowledged: Partition, Offset
	Produced Kind = "produced" // the log of a partition ends at Offset, at the end of the run
	Settled  Kind = "settled"  // nothing more is sent, no fault is there, and all is done
	// Unsettled: the same, and all is not done although the members have had minutes for it.
	Unsettled Kind = "unsettled"
)

// Class is how a fault disturbs.
type Class string

// Classes of faults.
const (
	Planned   Class = "planned" // members join and leave in order, topics grow: nobody may suffer
	OfMember  Class = "member"  // one member, the event's
	OfCluster Class = "cluster" // brokers: all members
)

// Stored is what the brokers write: a commit in the log of the offsets. Text is its metadata; Wall is the broker's time, the last
// nanosecond of its millisecond.
const Stored Kind = "stored"

// Event is one line. A zero field is not written.
type Event struct {
	At         time.Duration `json:"at"`          // of the machine's monotonic clock, which all processes share
	Wall       int64         `json:"wall"`        // Unix time in nanoseconds
	Member     string        `json:"m,omitempty"` // the process and its number: "c.3" is the third process of c
	Group      string        `json:"g,omitempty"` // of whose member it is
	Kind       Kind          `json:"k"`
	Partition  int32         `json:"p,omitempty"`
	Offset     int64         `json:"o,omitempty"`
	Key        string        `json:"key,omitempty"`
	Call       int64         `json:"call,omitempty"` // number of the handler call in its process
	ID         string        `json:"id,omitempty"`   // of the member, from its broker
	Generation int32         `json:"gen,omitempty"`
	Took       time.Duration `json:"took,omitempty"`
	Own        string        `json:"own,omitempty"`
	Fault      int           `json:"fault,omitempty"`
	Class      Class         `json:"class,omitempty"`
	Text       string        `json:"text,omitempty"`
	Err        string        `json:"err,omitempty"`
	Usage      *Usage        `json:"usage,omitempty"`
}

// Usage is what a process has in use.
type Usage struct {
	Goroutines int   `json:"goroutines"`
	Heap       int64 `json:"heap"`            // bytes in use
	Clean      bool  `json:"clean,omitempty"` // the garbage was collected just before: what is in use is reachable
	RSS        int64 `json:"rss"`             // bytes
	Files      int   `json:"files"`
	Claims     int   `json:"claims"`
	Running    int   `json:"running"`
	Stray      int   `json:"stray"`
	Kept       int   `json:"kept"`
	Backlog    int   `json:"backlog"`
	Stuck      int   `json:"stuck"` // claims that are paused with nothing in their backlog
	Lag        int64 `json:"lag"`
}

// String is one line for people, without the time.
func (e Event) String() string {
	parts := []string{fmt.Sprintf("%-6s %-9s", e.Member, e.Kind)}
	add := func(cond bool, format string, args ...any) {
		if cond {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(e.Group != "", "%s %d@%d", e.Group, e.Partition, e.Offset)
	add(e.Key != "", "key %s", e.Key)
	add(e.Call != 0, "call %d", e.Call)
	add(e.Generation != 0, "generation %d", e.Generation)
	add(e.Took != 0, "%v", e.Took.Round(time.Millisecond))
	add(e.Fault != 0, "#%d", e.Fault)
	add(e.Text != "", "%s", e.Text)
	add(e.Err != "", "(%s)", e.Err)
	return strings.Join(parts, " ")
}

// Group is a group of the run, with what was promised to it.
type Group struct {
	Name             string        `json:"name"`  // and the name of its topic
	Order            string        `json:"order"` // partition, key, none
	Eager            bool          `json:"eager"`
	Partitions       int32         `json:"partitions"` // at the beginning
	Slots            int           `json:"slots"`
	SessionTimeout   time.Duration `json:"session_timeout"`
	RebalanceTimeout time.Duration `json:"rebalance_timeout"`
	Heartbeat        time.Duration `json:"heartbeat"`
	Grace            time.Duration `json:"grace"`
	StopGrace        time.Duration `json:"stop_grace"`
	Lease            time.Duration `json:"lease"`
}

// PartitionsAfter is how many partitions the topic has after these events.
func (g Group) PartitionsAfter(events []Event) int32 {
	n := g.Partitions
	for _, e := range events {
		if e.Kind == Grown && e.Group == g.Name {
			n = e.Partition
		}
	}
	return n
}

// Header is the first line: what a ledger has to be held against.
type Header struct {
	Seed    uint64  `json:"seed"`
	Kafka   string  `json:"kafka"`
	Program string  `json:"program"` // how it was called
	Groups  []Group `json:"groups"`
}
