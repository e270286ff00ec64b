package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
	"github.com/evenkeel-go/evenkeel/internal/task"
)

// serial is the order by partition: one run at a time.
type serial struct {
	slab  []Task // prepared
	queue schedule.Queue[Task]
	each  bool // see follow
	held  bool // a run is out, or a failed task waits for its next attempt
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

func (s *serial) mayStart() bool { return !s.held && s.queue.Len() > 0 }

func (s *serial) take(r *runner, n, _ int) {
	r.tasks = s.queue.Take(n)
	r.n = int32(len(r.tasks)) //nolint:gosec // at most schedule.MaxRun
	s.held = true
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
	s.held = to < r.n
}

func (s *serial) fail(r *runner, i int32) *failure { return &failure{task: &r.tasks[i]} }

func (s *serial) again(f *failure, scope *task.Scope) {
	again := make([]Task, 1)
	again[0].prepare(f.task.ConsumerMessage, f.task.next(), scope)
	s.queue.PutBack(again)
	s.held = false
}

func (s *serial) putBack(r *runner, from int32) {
	s.queue.PutBack(r.tasks[from:r.n])
	s.held = from > r.done // those before it may be settled
}

// forget implements lineup: a run that goes on for hours must not keep the messages behind it.
func (s *serial) forget(r *runner, from int32) {
	clear(r.tasks[from:r.n])
	s.held = from > r.done
}

func (s *serial) hold(*runner, int32) { s.held = true }

func (s *serial) holdFailed(*failure) { s.held = true }

func (s *serial) drop(r *runner, _, to int32) { s.held = to < r.n }

func (s *serial) dropFailed(*failure) { s.held = false }

func (s *serial) clear() { s.queue.Clear() }
