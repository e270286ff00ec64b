package handlertest

import (
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// Run is a member of a group that consumes what the test delivers. Its methods belong to the test's goroutine; what they return
// is a copy. It stops by itself at the end of the test, see [Run.Stop].
type Run struct {
	tb   testing.TB
	opts Options
	g    *handler.GroupHandler

	session    *session // nil between sessions; the test goroutine's own
	generation int32
	stopped    bool

	mu      sync.Mutex // guards what follows; held for moments only
	changed chan struct{}
	parts   map[handler.Claim]*partition
	started []*sarama.ConsumerMessage
	running []*sarama.ConsumerMessage
	marks   []Mark
	commits []Mark
	failing map[place]*failures // messages whose latest attempt failed
}

// Mark is an offset that was marked or committed: the next one to read.
type Mark struct {
	Topic     string // name of the topic
	Partition int32  // number of the partition
	Offset    int64  // offset of the next message to read
	Metadata  string // the record of what finished beyond Offset; empty when there is none. Opaque
}

// New starts a run of h. A handler or options that [handler.New] refuses fail the test.
func New(tb testing.TB, h handler.Handler, o Options) *Run {
	tb.Helper()
	r := &Run{
		tb: tb, opts: o.withDefaults(tb), changed: make(chan struct{}), parts: make(map[handler.Claim]*partition), failing: make(map[place]*failures),
	}
	g, err := handler.New(h, r.opts.handler()) // looks for a nil handler too, which the recorder would hide
	if err == nil {
		g, err = handler.New(&recorder{r, h}, r.opts.handler())
	}
	if err != nil {
		tb.Fatalf("handlertest: %v", err)
	}
	r.g = g
	tb.Cleanup(r.Stop)
	return r
}

// change alters the state and wakes those who wait for it.
func (r *Run) change(f func(r *Run)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r)
	close(r.changed)
	r.changed = make(chan struct{})
}

// await waits until cond, which is called with the lock held, says yes. It says no when that took longer than Options.Timeout and extra.
func (r *Run) await(extra time.Duration, cond func() bool) bool {
	timer := time.NewTimer(r.opts.Timeout + extra)
	defer timer.Stop()
	for {
		changed, ok := r.look(cond)
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			_, ok = r.look(cond)
			return ok
		}
	}
}

func (r *Run) look(cond func() bool) (<-chan struct{}, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed, cond()
}

// Deliver appends messages to their partitions, named by Topic and Partition, and returns at once. A partition that was never claimed
// is claimed; one that was revoked stays so until [Run.Assign]. A message without Topic fails the test.
//
// The partition keeps copies. An offset below the partition's next one is replaced by that, so that messages without offsets get 0, 1, 2
// and so on; a higher one leaves a gap, as compaction does.
func (r *Run) Deliver(messages ...*sarama.ConsumerMessage) {
	r.tb.Helper()
	if r.stopped {
		r.tb.Fatalf("handlertest: Deliver after Stop: make a new run")
	}
	for i, m := range messages {
		if m.Topic == "" {
			r.tb.Fatalf("handlertest: Deliver: message %d of %d, value %.40q, has no topic: set ConsumerMessage.Topic", i+1, len(messages), m.Value)
		}
		p := r.part(handler.Claim{Topic: m.Topic, Partition: m.Partition})
		r.change(func(*Run) { p.append(*m) })
		if !p.claimed {
			r.claim(p)
		}
	}
}

// Assign gives a partition to the member, in the running session or in a new one. It starts at the committed offset: what was
// delivered and not committed comes again. A partition that is claimed stays as it is.
func (r *Run) Assign(topic string, partition int32) {
	r.tb.Helper()
	if r.stopped {
		r.tb.Fatalf("handlertest: Assign after Stop: make a new run")
	}
	r.claim(r.part(handler.Claim{Topic: topic, Partition: partition}))
}

// Consume claims a partition whose messages come from pc, a partition consumer of a mocks.Consumer for example, under the offsets
// that pc gives them. Its errors go to the log.
//
// With sarama/mocks: name a starting offset in ExpectConsumePartition, sarama.OffsetOldest or a number (mocks.AnyOffset and
// sarama.OffsetNewest give messages negative offsets). Revoke and Stop close pc, after which its YieldMessage panics; what it still holds
// then is thrown away, as sarama does. Closing pc yourself ends the session for all partitions, as a stream that ends does in sarama.
// Pausing is done here and not by pc, so YieldMessage waits while the handler is busy and pc's buffer is full.
func (r *Run) Consume(topic string, partition int32, pc sarama.PartitionConsumer) {
	r.tb.Helper()
	p := r.part(handler.Claim{Topic: topic, Partition: partition})
	if p.claim != nil || r.stopped {
		r.tb.Fatalf("handlertest: Consume of %s: it is claimed, or the run has stopped", p)
	}
	if pc.HighWaterMarkOffset() < 0 {
		r.tb.Fatalf("handlertest: Consume of %s: its messages get negative offsets: give ExpectConsumePartition sarama.OffsetOldest or a number", p)
	}
	r.open(p, newConsumerSource(pc))
}

// part returns the partition, made at first use.
func (r *Run) part(key handler.Claim) *partition {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.parts[key]
	if p == nil {
		p = newPartition(key)
		r.parts[key] = p
	}
	return p
}
