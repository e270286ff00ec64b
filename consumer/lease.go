package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/lease"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// LeaseError is the cause with which tasks are cancelled when the member can no longer be sure of its membership. It wraps
// handler.ErrLost.
type LeaseError struct {
	// Silence is how long ago the last good heartbeat was sent.
	Silence time.Duration
	// Err is the last answer: a sarama.KError when the coordinator has removed the member, else why there was none.
	Err error
}

// errNoAnswer is what a heartbeat that nobody answers comes to.
var errNoAnswer = fmt.Errorf("no answer from the coordinator: %w", context.DeadlineExceeded)

// Error implements error.
func (e *LeaseError) Error() string {
	return fmt.Sprintf("%v: the last good heartbeat was sent %v ago, and then: %v", handler.ErrLost, e.Silence.Round(time.Millisecond), e.Err)
}

// Unwrap returns handler.ErrLost and the last answer.
func (e *LeaseError) Unwrap() []error { return []error{handler.ErrLost, e.Err} }

// coordinator is what the lease asks. It is the membership.
type coordinator interface {
	heartbeat(ctx context.Context, memberID string, generation int32) error
	joining() bool
}

// leaseKeeper sends heartbeats of our own over the commit connection, from the first session to the last task's end, and ends all tasks
// when the lease is over, whatever a heartbeat waits for just then. sarama's heartbeats go on beside it: they carry the rebalance signal, but tell nobody how they fare, and none is sent while a
// cooperative join is pending.
type leaseKeeper struct {
	tenure      *tenure
	coordinator coordinator
	every       time.Duration
	end         context.CancelFunc
	done        sync.WaitGroup

	mu       sync.Mutex
	lease    *lease.Lease
	lastGood time.Time
	trouble  error // of the last heartbeat
}

func newLeaseKeeper(t *tenure, c coordinator) *leaseKeeper {
	now := time.Now()
	p := t.m.plan
	return &leaseKeeper{tenure: t, coordinator: c, every: p.HeartbeatInterval, lease: lease.New(termsOf(p), now), lastGood: now}
}

func termsOf(p *config.Plan) lease.Terms {
	shorter := min(p.SessionTimeout, p.RebalanceTimeout)
	return lease.Terms{Session: p.SessionTimeout, Rebalance: p.RebalanceTimeout, Margin: shorter - p.Lease}
}

func (k *leaseKeeper) start() {
	ctx, end := context.WithCancel(context.Background())
	k.end = end
	k.done.Go(func() { k.keep(ctx) })  // ends with stop
	k.done.Go(func() { k.guard(ctx) }) // ends with stop
}

func (k *leaseKeeper) stop() {
	if k.end != nil {
		k.end()
		k.done.Wait()
	}
}

// keep sends a heartbeat at each interval. A heartbeat is given no longer than the lease.
func (k *leaseKeeper) keep(ctx context.Context) {
	for ctx.Err() == nil {
		sent, joining := time.Now(), k.coordinator.joining()
		if k.tenure.wanted(joining) && k.beatOnce(ctx, sent, joining) {
			return
		}
		_ = link.Sleep(ctx, time.Until(sent.Add(k.every)))
	}
}

// beatOnce sends a heartbeat and says whether the membership is over.
func (k *leaseKeeper) beatOnce(ctx context.Context, sent time.Time, joining bool) (over bool) {
	err := k.beat(ctx)
	return ctx.Err() == nil && k.take(sent, joining, err)
}

// guard looks at the lease each time it would end. It is apart from the heartbeats: one may hang in a look for the coordinator, or in
// a hook that is told of it.
func (k *leaseKeeper) guard(ctx context.Context) {
	for left := k.left(); left > 0; left = k.left() {
		_ = link.Sleep(ctx, left)
		if ctx.Err() != nil {
			return
		}
	}
	k.tenure.lose(k.lost(nil))
}

func (k *leaseKeeper) beat(ctx context.Context) error {
	ctx, cancel := context.WithDeadline(ctx, k.until())
	defer cancel()
	return k.coordinator.heartbeat(ctx, k.tenure.memberID, k.tenure.generation.Load())
}

func (k *leaseKeeper) until() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lease.End()
}

// take counts an answer and says whether the membership is over. joining is how it was when the heartbeat was sent.
func (k *leaseKeeper) take(sent time.Time, joining bool, err error) (over bool) {
	rebalancing := errors.Is(err, sarama.ErrRebalanceInProgress)
	k.mu.Lock()
	switch {
	case err == nil:
		k.lease.Good(sent)
		k.lastGood = sent
	case rebalancing:
		k.lease.Rebalancing(sent, joining)
		k.lastGood = sent
	}
	refused := link.Refused(err) && !link.Refused(k.trouble)
	k.trouble = err
	over = isRemoval(err) || !time.Now().Before(k.lease.End())
	k.mu.Unlock()
	switch {
	case over:
		k.tenure.lose(k.lost(err))
	case rebalancing && !joining:
		k.tenure.othersWait()
	case refused: // somebody has to act, and the lease may last for minutes
		k.tenure.m.hooks.failed(err)
		k.tenure.m.watched.trouble(err)
	}
	return over
}

// lost makes the cause of a loss out of an answer, or of the last one where err is nil.
func (k *leaseKeeper) lost(err error) *LeaseError {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		err = k.trouble
	}
	if err == nil {
		err = errNoAnswer // the heartbeat after a good one is still out
	}
	return &LeaseError{Silence: time.Since(k.lastGood), Err: err}
}

// isRemoval finds the answers by which the coordinator says that the member is no longer one. ILLEGAL_GENERATION is not among them:
// it is also the answer between the end of a round and our own assignment.
func isRemoval(err error) bool {
	return errors.Is(err, sarama.ErrUnknownMemberId) || errors.Is(err, sarama.ErrFencedInstancedId)
}

// assigned marks the end of a rebalance round.
func (k *leaseKeeper) assigned(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lease.Good(at)
	k.lastGood = at
}

// left is how long the lease lasts without further news.
func (k *leaseKeeper) left() time.Duration { return time.Until(k.until()) }
