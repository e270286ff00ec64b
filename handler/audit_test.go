package handler_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// audit watches partitions and finds what the engine must never do.
type audit struct {
	mu         sync.Mutex
	partitions map[int32]*audited
	faults     []string
}

// audited is one partition: what lies on it, what became of it, and what its current claim has started.
type audited struct {
	log       []int64 // offsets, with holes
	key       func(offset int64) []byte
	order     handler.Order
	succeeded map[int64]int // the claim whose task did it
	committed int64

	claim int // number of the current claim
	lanes map[string]*auditedLane
	ever  map[int64]bool
}

// auditedLane is what has to be handled one after another: a partition, a key, or one message.
type auditedLane struct {
	log     []int64
	running bool
}

func newAudited(log []int64, order handler.Order, key func(offset int64) []byte) *audited {
	x := &audited{log: log, order: order, key: key, succeeded: map[int64]int{}, lanes: map[string]*auditedLane{}}
	for _, o := range log {
		l := x.lane(o)
		l.log = append(l.log, o)
	}
	return x
}

func (x *audited) lane(offset int64) *auditedLane {
	name := "all"
	if key := x.key(offset); x.order == handler.ByKey && key != nil {
		name = "key " + string(key)
	} else if x.order != handler.ByPartition {
		name = strconv.FormatInt(offset, 10)
	}
	if x.lanes[name] == nil {
		x.lanes[name] = &auditedLane{}
	}
	return x.lanes[name]
}

func newAudit() *audit { return &audit{partitions: map[int32]*audited{}} }

func (a *audit) faultLocked(format string, args ...any) {
	if len(a.faults) < 10 {
		a.faults = append(a.faults, fmt.Sprintf(format, args...))
	}
}

// claimed begins a new claim and returns the messages it gets, from the committed offset on.
func (a *audit) claimed(p int32) (claim int, messages []*sarama.ConsumerMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[p]
	x.claim++
	first, _ := slices.BinarySearch(x.log, x.committed)
	for _, o := range x.log[first:] {
		m := &sarama.ConsumerMessage{Topic: topic, Partition: p, Offset: o, Key: x.key(o), Value: fmt.Appendf(nil, "%6d", x.claim)}
		messages = append(messages, m)
	}
	return x.claim, messages
}

func (a *audit) started(m *sarama.ConsumerMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[m.Partition]
	if x.ever == nil {
		x.ever = map[int64]bool{}
	}
	x.ever[m.Offset] = true
	l := x.lane(m.Offset)
	if l.running {
		a.faultLocked("%d@%d started beside another task", m.Partition, m.Offset)
	}
	l.running = true
	claim := claimOf(m)
	if claim != x.claim {
		return // a start that was under way when its claim ended: its context has ended too
	}
	if x.succeeded[m.Offset] == claim {
		a.faultLocked("%d@%d started again after it had succeeded", m.Partition, m.Offset)
	}
	for _, o := range l.log {
		if o < m.Offset && o >= x.committed && x.succeeded[o] == 0 {
			a.faultLocked("%d@%d started before %d had succeeded", m.Partition, m.Offset, o)
		}
	}
}

// claimOf is the number of the claim that a message was delivered to.
func claimOf(m *sarama.ConsumerMessage) int {
	n, _ := strconv.Atoi(strings.TrimSpace(string(m.Value)))
	return n
}

func (a *audit) ended(m *sarama.ConsumerMessage, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[m.Partition]
	x.lane(m.Offset).running = false
	if ok {
		x.succeeded[m.Offset] = claimOf(m)
	}
}

// marked checks that all before offset has succeeded.
func (a *audit) marked(p int32, offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[p]
	for _, o := range x.log {
		if o < offset && x.succeeded[o] == 0 {
			a.faultLocked("%d: committed %d, but %d did not succeed", p, offset, o)
		}
	}
	if offset < x.committed {
		a.faultLocked("%d: committed %d after %d", p, offset, x.committed)
	}
	x.committed = offset
}

// done says that all of a partition is committed.
func (a *audit) done(p int32) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[p]
	return x.committed == x.log[len(x.log)-1]+1
}

// attempts counts how often an offset has started, for handlers that fail at first.
type attempts struct {
	mu sync.Mutex
	n  map[[2]int64]int
}

func (a *attempts) next(m *sarama.ConsumerMessage) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := [2]int64{int64(m.Partition), m.Offset}
	a.n[k]++
	return a.n[k]
}

func (a *audit) committedOf(p int32) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.partitions[p].committed
}

// compact takes messages out of the log that nobody has started.
func (a *audit) compact(p int32, which func() bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[p]
	last := x.log[len(x.log)-1]
	gone := map[int64]bool{}
	for _, o := range x.log {
		if o != last && !x.ever[o] && which() {
			gone[o] = true
		}
	}
	drop := func(o int64) bool { return gone[o] }
	x.log = slices.DeleteFunc(x.log, drop)
	for _, l := range x.lanes {
		l.log = slices.DeleteFunc(l.log, drop)
	}
}

// retain takes the first n messages out of the log, whatever has become of them.
func (a *audit) retain(p int32, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[p]
	n = min(n, len(x.log)-1)
	gone := map[int64]bool{}
	for _, o := range x.log[:n] {
		gone[o] = true
	}
	drop := func(o int64) bool { return gone[o] }
	x.log = slices.DeleteFunc(slices.Clone(x.log), drop)
	for _, l := range x.lanes {
		l.log = slices.DeleteFunc(slices.Clone(l.log), drop)
	}
}

func (a *audit) firstOf(p int32) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.partitions[p].log[0]
}
