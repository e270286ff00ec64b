package handler

import (
	"context"
	"log/slog"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
	"github.com/evenkeel-go/evenkeel/internal/task"
)

// claim is what the loop of one claimed partition and the runners share. The loop's own state is in [loop].
type claim struct {
	key    Claim
	source sarama.ConsumerGroupClaim
	pool   *pool
	logger *slog.Logger
	intake context.Context // ends at the first sign of revocation that is not a closed channel: checked before each start
	stop   context.CancelFunc
	scope  *task.Scope   // parent of the contexts of its tasks
	wake   chan struct{} // 1: something ended. Lossy by design, the truth is under the lock

	// Under the pool's lock.
	queue     schedule.Queue[Task]
	pace      schedule.Pace
	active    *runner  // runs its tasks now
	flight    int      // tasks that were taken and are not settled
	ended     progress // what the loop has not taken over yet
	failed    *failure // the same, for a failed task
	cancelled int      // tasks that returned an error after they were cancelled
	held      bool     // by a failed task, from its failure to its next start
	queued    bool     // in the ring
	closed    bool     // revoked: nothing starts any more
	left      bool     // ConsumeClaim has returned: results are strays
	watched   bool     // the loop looks by itself soon
	hungry    bool     // the loop waits for room in its backlog
	before    *claim   // an earlier claim whose task still runs
	after     *claim   // the claim that waits for this one's task
	view      view
}

// progress counts tasks that ended well. Order by partition makes an offset out of it: all before it are done.
type progress struct {
	n     int
	bytes int64
	next  int64 // offset after the last one
}

// view is the loop's state as others may see it.
type view struct {
	since    time.Duration
	backlog  int
	bytes    int64
	paused   bool
	start    int64 // offset at which the claim begins, -1 as long as nobody knows
	finished int64 // next offset after the last finished task, -1 at first
}

func newClaim(session context.Context, source sarama.ConsumerGroupClaim, p *pool) *claim {
	key := Claim{Topic: source.Topic(), Partition: source.Partition()}
	c := &claim{
		key: key, source: source, pool: p, logger: p.logger.With(attrTopic(key.Topic), attrPartition(key.Partition)),
		scope: task.NewScope(session), wake: make(chan struct{}, 1),
		view: view{since: p.now(), start: max(source.InitialOffset(), -1), finished: -1},
	}
	c.intake, c.stop = context.WithCancel(session)
	return c
}

// signal tells the loop that something ended.
func (c *claim) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *claim) mayStartLocked() bool {
	return c.queue.Len() > 0 && c.active == nil && !c.held && !c.closed && c.before == nil
}

func (c *claim) succeededLocked(tasks []Task) Outcome {
	counts := &c.pool.counts
	if c.left {
		counts.Strays += int64(len(tasks))
		return Stray
	}
	if len(tasks) == 0 {
		return Succeeded
	}
	counts.Succeeded += int64(len(tasks))
	c.ended.n += len(tasks)
	for i := range tasks {
		c.ended.bytes += int64(tasks[i].size)
	}
	c.ended.next = tasks[len(tasks)-1].Offset + 1
	return Succeeded
}

// failedLocked tells a failure from a cancellation: a handler that returns an error after we cancelled it has not failed. A panic
// is told in any case.
func (c *claim) failedLocked(t *Task, err error) Outcome {
	counts := &c.pool.counts
	_, panicked := err.(*PanicError) //nolint:errorlint // made by the runner, not wrapped
	if panicked {
		counts.Panicked++
	}
	outcome := Failed
	switch {
	case c.left:
		counts.Strays++
		return Stray
	case c.scope.Cause() != nil:
		counts.Cancelled++
		c.cancelled++
		outcome = Cancelled
	default:
		counts.Failed++
	}
	if outcome == Failed || panicked {
		c.held, c.failed = true, &failure{task: t, err: err}
	}
	return outcome
}
