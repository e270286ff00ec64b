package handler

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
	"github.com/evenkeel-go/evenkeel/internal/task"
)

// claim is what the loop of one claimed partition and the runners share. The loop's own state is in [loop].
type claim struct {
	key      Claim
	source   sarama.ConsumerGroupClaim
	pool     *pool
	logger   *slog.Logger
	intake   context.Context // ends at the first sign of revocation that is not a closed channel: checked before each start
	stop     context.CancelFunc
	overdue  func() bool   // says that the lease is over; nil over a plain session
	scope    *task.Scope   // parent of the contexts of its tasks
	wake     chan struct{} // 1: something ended. Lossy by design, the truth is under the lock
	finished atomic.Int64  // all below it is finished; -1 as long as nothing is
	unstored atomic.Bool   // the loop has taken ends over that it has not handed to the committer

	// Under the pool's lock.
	lineup    lineup
	pace      schedule.Pace
	active    *runner       // first of those that run its tasks now, see [runner.after]
	actives   int           // how many these are
	flight    int           // tasks that were taken and are not settled
	ended     progress      // what the loop has not taken over yet
	failed    []*failure    // the same, for failed tasks
	waiting   int           // failed tasks that wait for their next attempt
	cancelled int           // tasks that returned an error after they were cancelled
	queued    bool          // in the ring
	closed    bool          // revoked: nothing starts any more
	marked    bool          // to be handed over: nothing starts, see handOvers
	draining  bool          // the member stops: the same
	yields    bool          // marked, and nobody was told yet that it is idle
	entered   bool          // it has the tasks of the claim before
	evicts    time.Duration // what began until then is to be cancelled, for the partition has to move; 0 for nothing
	reported  bool          // as idle, in the round that goes on: nothing starts before its end
	doubtful  int32         // generation of a doubt, 0 for none: nothing starts before it is known that the partition is ours, see prove
	left      bool          // ConsumeClaim has returned: results are strays
	leftAt    time.Duration // since when
	back      bool          // a task of the claim before has returned that was reported as stuck
	watched   bool          // the loop looks by itself soon
	hungry    bool          // the loop waits for room in its backlog
	kept      bool          // ConsumeClaim has returned, and the tasks go on
	parting   bool          // they were given up then, and have a moment to return: nothing is told of them one by one
	scopes    []*task.Scope // of adopted tasks
	before    *claim        // an earlier claim whose task still runs
	after     *claim        // the claim that waits for this one's task
	view      view
}

// progress is what ended well.
type progress struct {
	n       int
	bytes   int64
	next    int64   // by partition: the offset after the last one, for all before it are done
	offsets []int64 // otherwise: of each
}

// view is the loop's state as others may see it.
type view struct {
	since   time.Duration
	backlog int
	bytes   int64
	paused  bool
	start   int64 // offset at which the claim begins, -1 as long as nobody knows
}

func newClaim(session context.Context, source sarama.ConsumerGroupClaim, p *pool) *claim {
	key := Claim{Topic: source.Topic(), Partition: source.Partition()}
	c := &claim{
		key: key, source: source, pool: p, logger: p.logger.With(attrTopic(key.Topic), attrPartition(key.Partition)),
		scope: task.NewScope(session), wake: make(chan struct{}, 1), lineup: p.newLineup(),
		view: view{since: p.now(), start: max(source.InitialOffset(), -1)},
	}
	c.finished.Store(-1)
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
	return !c.closed && !c.goingLocked() && !c.reported && c.doubtful == 0 && c.before == nil && c.actives < c.pool.limits.partition && c.lineup.mayStart()
}

// enlistLocked makes r one of those that run tasks of the claim.
func (c *claim) enlistLocked(r *runner) {
	if c.active != nil {
		c.active.before = r
	}
	r.before, r.after, c.active = nil, c.active, r
	c.actives++
	c.flight += int(r.n - r.done)
}

// landLocked takes tasks out that have ended or were taken back.
func (c *claim) landLocked(n int) {
	c.flight -= n
	if c.left || c.kept {
		c.pool.stray -= n
	}
}

func (c *claim) dischargeLocked(r *runner) {
	if r.before == nil {
		c.active = r.after
	} else {
		r.before.after = r.after
	}
	if r.after != nil {
		r.after.before = r.before
	}
	r.before, r.after = nil, nil
	c.actives--
}

// succeededLocked takes the tasks of a run, from and to, as done.
func (c *claim) succeededLocked(r *runner, from, to int32) Outcome {
	counts := &c.pool.counts
	switch {
	case c.left:
		if counts.Strays += int64(to - from); to > from {
			c.wasteLocked(r)
		}
		return Stray
	case to > from:
		counts.Succeeded += int64(to - from)
		c.lineup.end(r, from, to)
	}
	return Succeeded
}

// wasteLocked counts the time of a run whose task was cancelled, or comes too late.
func (c *claim) wasteLocked(r *runner) {
	c.pool.counts.WastedSeconds += (c.pool.now() - r.begin).Seconds()
}

// failedLocked tells a failure from a cancellation: a handler that returns an error after we cancelled it has not failed. A panic
// is told in any case.
func (c *claim) failedLocked(r *runner, i int32) Outcome {
	counts := &c.pool.counts
	_, panicked := r.err.(*PanicError) //nolint:errorlint // made by the runner, not wrapped
	if panicked {
		counts.Panicked++
	}
	outcome, cancelled := Failed, r.task(i).call.Cancelled()
	if cancelled || c.left {
		c.wasteLocked(r)
	}
	switch {
	case c.parting && cancelled && !panicked: // as one of a claim that waits for it
		counts.Cancelled++
		return Cancelled
	case c.left:
		counts.Strays++
		return Stray
	case cancelled:
		counts.Cancelled++
		c.cancelled++
		outcome = Cancelled
	default:
		counts.Failed++
	}
	if outcome == Failed || panicked {
		f := c.lineup.fail(r, i)
		f.err = r.err
		c.failed = append(c.failed, f)
	}
	return outcome
}
