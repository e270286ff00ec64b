package handlertest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/span"
)

// WaitIdle waits until everything delivered to the claimed partitions has been handled and committed. A message that fails for ever
// fails the test after Options.Timeout, with its last error and the number of attempts.
func (r *Run) WaitIdle() {
	r.tb.Helper()
	if !r.await(0, r.idle) {
		why := r.failingText()
		if why != "" {
			why = ": " + why
		}
		r.tb.Fatalf("handlertest: not everything was handled within %s%s\n%s", span.Text(r.opts.Timeout), why, r.text())
	}
}

func (r *Run) idle() bool {
	for _, p := range r.parts {
		if p.claim != nil && !p.claim.source.done(p.committed.offset) {
			return false
		}
	}
	return true
}

// WantCommitted fails the test unless the committed offset of a partition is want: the offset of the next message to read. It waits
// while the committed offset is lower.
//
// -1 is for a partition of which no message is committed yet, at this moment: that is looked at without waiting. The start of the
// partition, which the engine commits before the first task ends when the group has no offset there, does not count for it. So both
// -1 and the offset of the first message, 0 as a rule, hold while the first task runs.
func (r *Run) WantCommitted(topic string, partition int32, want int64) {
	r.tb.Helper()
	p := r.part(claimOf(topic, partition))
	if want >= 0 {
		r.await(0, func() bool { return p.committed.offset >= want })
	}
	if got, untouched := r.committed(p); got != want && (want != -1 || !untouched) {
		r.tb.Errorf("handlertest: committed %s: %s, want %s\n%s", p, offsetText(got), offsetText(want), r.text())
	}
}

func (r *Run) committed(p *partition) (offset int64, untouched bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.committed.offset, p.untouched()
}

// WantStarted fails the test unless the tasks of a partition that were started so far, retries included, are those at the given offsets,
// in this order. It waits while there are fewer.
func (r *Run) WantStarted(topic string, partition int32, offsets ...int64) {
	r.tb.Helper()
	key := claimOf(topic, partition)
	r.await(0, func() bool { return len(r.startedOf(key)) >= len(offsets) })
	r.mu.Lock()
	got := r.startedOf(key)
	r.mu.Unlock()
	if !slices.Equal(got, offsets) {
		r.tb.Errorf("handlertest: started %s: %v, want %v\n%s", newPartition(key), got, offsets, r.text())
	}
}

func (r *Run) startedOf(key handler.Claim) []int64 {
	var offsets []int64
	for _, m := range r.started {
		if m.Topic == key.Topic && m.Partition == key.Partition {
			offsets = append(offsets, m.Offset)
		}
	}
	return offsets
}

// Started lists the messages of all started tasks, in the order of their starts. A retry is a start.
func (r *Run) Started() []*sarama.ConsumerMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.started)
}

// Marks lists what was marked, in order. The first mark of a partition without a committed offset is its start: the offset of its
// first message, of which nothing is done yet.
func (r *Run) Marks() []Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.marks)
}

// Commits lists what was committed, in order, the start of a partition as in [Run.Marks] too.
func (r *Run) Commits() []Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.commits)
}

// Status returns the handler's own account: what runs, what waits, counts of outcomes.
func (r *Run) Status() handler.Status { return r.g.Status() }

// sorted lists the partitions by name. The caller holds the lock.
func (r *Run) sorted() []*partition {
	return slices.SortedFunc(maps.Values(r.parts), func(a, b *partition) int {
		return cmp.Or(cmp.Compare(a.key.Topic, b.key.Topic), cmp.Compare(a.key.Partition, b.key.Partition))
	})
}
