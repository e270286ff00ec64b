package handler_test

import (
	"fmt"
	"slices"
	"strconv"
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
	succeeded map[int64]bool
	committed int64

	claim int // number of the current claim
	lanes map[string]*auditedLane
}

// auditedLane is what has to be handled one after another: a partition, a key, or one message.
type auditedLane struct {
	log     []int64
	running bool
	next    int // index in log of what may start next
}

func newAudited(log []int64, order handler.Order, key func(offset int64) []byte) *audited {
	x := &audited{log: log, order: order, key: key, succeeded: map[int64]bool{}, lanes: map[string]*auditedLane{}}
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
	for _, l := range x.lanes {
		l.next, _ = slices.BinarySearch(l.log, x.committed)
	}
	first, _ := slices.BinarySearch(x.log, x.committed)
	for _, o := range x.log[first:] {
		m := &sarama.ConsumerMessage{Topic: topic, Partition: p, Offset: o, Key: x.key(o), Value: fmt.Append(nil, x.claim)}
		messages = append(messages, m)
	}
	return x.claim, messages
}

func (a *audit) started(m *sarama.ConsumerMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[m.Partition]
	l := x.lane(m.Offset)
	if l.running {
		a.faultLocked("%d@%d started beside another task", m.Partition, m.Offset)
	}
	l.running = true
	if string(m.Value) != strconv.Itoa(x.claim) {
		return // a start that was under way when its claim ended: its context has ended too
	}
	if l.next >= len(l.log) || l.log[l.next] != m.Offset {
		a.faultLocked("%d@%d started out of turn: next is number %d of %v", m.Partition, m.Offset, l.next, l.log)
	}
}

func (a *audit) ended(m *sarama.ConsumerMessage, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[m.Partition]
	l := x.lane(m.Offset)
	l.running = false
	if !ok {
		return
	}
	x.succeeded[m.Offset] = true
	if string(m.Value) == strconv.Itoa(x.claim) {
		l.next++
	}
}

// marked checks that all before offset has succeeded.
func (a *audit) marked(p int32, offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.partitions[p]
	for _, o := range x.log {
		if o < offset && !x.succeeded[o] {
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
