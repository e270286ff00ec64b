package handler

import (
	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/task"
)

// lineup holds what waits of a claim and says what may start, by the order that was asked for. All but prepare need the pool's lock.
type lineup interface {
	// prepare makes tasks of messages, which push then puts in. It is the claim loop's, and returns how many bytes they hold.
	prepare(batch []*sarama.ConsumerMessage, scope *task.Scope) (bytes int64)
	push()
	// follow says whether each offset that ends has to be told.
	follow(each bool)
	// outBytes is what the tasks hold that run, where these do not count for the backlog.
	outBytes() int64
	// mayStart says that take has something to give.
	mayStart() bool
	// take gives a runner its next run: at most n tasks, and its share of what may start at once when share runners come for it.
	take(r *runner, n, share int)
	// end says that tasks of a run, from and to, have succeeded.
	end(r *runner, from, to int32)
	// fail says that a task of a run has failed. It holds its place until again puts it back.
	fail(r *runner, i int32) *failure
	again(f *failure, scope *task.Scope)
	// putBack takes the tasks of a run back that have not started, from one on.
	putBack(r *runner, from int32)
	// forget drops those tasks of a run instead.
	forget(r *runner, from int32)
	// hold counts a task of a run that was adopted as one that is out, and holdFailed one that has failed.
	hold(r *runner, i int32)
	holdFailed(f *failure)
	// drop says that tasks of a run, from and to, have ended and count for nothing; dropFailed, that a failed one is not tried again.
	drop(r *runner, from, to int32)
	dropFailed(f *failure)
	clear()
}

func (p *pool) newLineup() lineup {
	if p.keys.order == ByPartition {
		return &serial{}
	}
	return newFanned(&p.keys, p.limits.key)
}
