package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
	"github.com/evenkeel-go/evenkeel/internal/task"
)

// serial is the order by partition: one run at a time.
type serial struct {
	slab   []Task // prepared
	queue  schedule.Queue[Task]
	each   bool    // see follow
	out    *runner // of the run that is out, nil for none
	failed *Task   // failed, and waits for its next attempt
}

var _ lineup = (*serial)(nil)

// prepare implements lineup. The tasks of a batch lie in one piece of memory.
func (s *serial) prepare(batch []*sarama.ConsumerMessage, scope *task.Scope) (bytes int64) {
	s.slab = make([]Task, len(batch))
	for i, m := range batch {
		s.slab[i].prepare(m, 1, scope)
		bytes += int64(s.slab[i].size)
	}
	return bytes
}

func (s *serial) push() {
	s.queue.Push(s.slab)
	s.slab = nil
}

func (s *serial) follow(each bool) { s.each = each }

func (s *serial) outBytes() int64 { return 0 }

func (s *serial) mayStart() bool { return s.out == nil && s.failed == nil && s.queue.Len() > 0 }

func (s *serial) take(r *runner, n, _ int) {
	r.tasks = s.queue.Take(n)
	r.n = int32(len(r.tasks)) //nolint:gosec // at most schedule.MaxRun
	s.out = r
}

// settled lets go of the partition where all of a run is done. A runner may tell it late, when another one has the next run.
func (s *serial) settled(r *runner, all bool) {
	if all && s.out == r {
		s.out = nil
	}
}

func (s *serial) end(r *runner, from, to int32) {
	c := r.claim
	for i := from; i < to; i++ {
		c.ended.bytes += int64(r.tasks[i].size)
		if s.each {
			c.ended.offsets = append(c.ended.offsets, r.tasks[i].Offset)
		}
	}
	c.ended.n += int(to - from)
	c.ended.next = r.tasks[to-1].Offset + 1
	s.settled(r, to == r.n)
}

func (s *serial) fail(r *runner, i int32) *failure {
	s.settled(r, true)
	s.failed = &r.tasks[i]
	return &failure{task: s.failed}
}

func (s *serial) again(f *failure, scope *task.Scope) {
	again := make([]Task, 1)
	again[0].prepare(f.task.ConsumerMessage, f.task.next(), scope)
	s.queue.PutBack(again)
	s.dropFailed(f)
}

func (s *serial) putBack(r *runner, from int32) {
	s.queue.PutBack(r.tasks[from:r.n])
	s.settled(r, from == r.done) // those before it may be settled
}

// forget implements lineup: a run that goes on for hours must not keep the messages behind it.
func (s *serial) forget(r *runner, from int32) {
	clear(r.tasks[from:r.n])
	s.settled(r, from == r.done)
}

func (s *serial) hold(r *runner, _ int32) { s.out = r }

func (s *serial) holdFailed(f *failure) { s.failed = f.task }

func (s *serial) drop(r *runner, _, to int32) { s.settled(r, to == r.n) }

func (s *serial) dropFailed(f *failure) {
	if s.failed == f.task {
		s.failed = nil
	}
}

func (s *serial) clear() { s.queue.Clear() }
