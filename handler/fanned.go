package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
	"github.com/evenkeel-go/evenkeel/internal/task"
)

// item is a task in the lane of its key.
type item = schedule.Item[Task]

// fanned is the order by key and no order: several runs at a time, at most a few of a key.
type fanned struct {
	keys  *keys
	slab  []item                  // prepared
	hash  [schedule.MaxRun]uint64 // of the slab
	lanes *schedule.Lanes[Task]
	out   int64 // bytes of what runs
}

var _ lineup = (*fanned)(nil)

func newFanned(k *keys, width int) *fanned {
	return &fanned{keys: k, lanes: schedule.NewLanes[Task](width)}
}

func (f *fanned) prepare(batch []*sarama.ConsumerMessage, scope *task.Scope) (bytes int64) {
	f.slab = make([]item, len(batch))
	for i, m := range batch {
		t := &f.slab[i].Value
		t.prepare(m, 1, scope)
		bytes += int64(t.size)
		f.hash[i] = f.keys.lane(m)
	}
	return bytes
}

func (f *fanned) push() {
	for i := range f.slab {
		f.lanes.Push(&f.slab[i], f.hash[i])
	}
	f.slab = nil
}

// follow implements lineup: they are always told.
func (f *fanned) follow(bool) {}

func (f *fanned) mayStart() bool { return f.lanes.Ready() > 0 }

func (f *fanned) take(r *runner, n, share int) {
	lanes := (f.lanes.Ready() + share - 1) / share
	r.n = int32(f.lanes.Take(r.items[:n], lanes)) //nolint:gosec // at most schedule.MaxRun
	for _, it := range r.items[:r.n] {
		f.out += int64(it.Value.size)
	}
}

func (f *fanned) outBytes() int64 { return f.out }

func (f *fanned) end(r *runner, from, to int32) {
	c := r.claim
	for i := from; i < to; i++ {
		it := r.items[i]
		c.ended.bytes += int64(it.Value.size)
		c.ended.offsets = append(c.ended.offsets, it.Value.Offset)
		f.out -= int64(it.Value.size)
		f.lanes.End(it)
	}
	c.ended.n += int(to - from)
}

func (f *fanned) fail(r *runner, i int32) *failure {
	it := r.items[i]
	f.out -= int64(it.Value.size)
	return &failure{task: &it.Value, item: it}
}

func (f *fanned) again(failed *failure, scope *task.Scope) {
	fresh := &item{}
	fresh.Value.prepare(failed.task.ConsumerMessage, failed.task.next(), scope)
	f.lanes.Again(failed.item, fresh)
}

func (f *fanned) putBack(r *runner, from int32) {
	for i := r.n - 1; i >= from; i-- {
		f.out -= int64(r.items[i].Value.size)
		f.lanes.PutBack(r.items[i])
		r.items[i] = nil
	}
}

func (f *fanned) forget(r *runner, from int32) {
	for i := from; i < r.n; i++ {
		f.out -= int64(r.items[i].Value.size)
		f.lanes.End(r.items[i])
		r.items[i] = nil
	}
}

func (f *fanned) hold(r *runner, i int32) {
	it := r.items[i]
	f.out += int64(it.Value.size)
	f.lanes.Hold(it, it.Hash())
}

func (f *fanned) holdFailed(failed *failure) {
	f.lanes.Hold(failed.item, failed.item.Hash())
}

func (f *fanned) drop(r *runner, from, to int32) {
	for i := from; i < to; i++ {
		f.out -= int64(r.items[i].Value.size)
		f.lanes.End(r.items[i])
	}
}

func (f *fanned) dropFailed(failed *failure) { f.lanes.End(failed.item) }

func (f *fanned) clear() { f.lanes.Clear() }
