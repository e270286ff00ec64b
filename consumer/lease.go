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
	"github.com/evenkeel-go/evenkeel/internal/span"
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
	return fmt.Sprintf("%v: the last good heartbeat was sent %v ago, and then: %v", handler.ErrLost, span.Text(e.Silence.Round(time.Millisecond)), e.Err)
}

// Unwrap returns handler.ErrLost and the last answer.
func (e *LeaseError) Unwrap() []error { return []error{handler.ErrLost, e.Err} }

// coordinator is what the lease asks. It is the membership.
type coordinator interface {
	heartbeat(ctx context.Context, memberID string, generation int32) error
	joining() bool
	completing(ctx context.Context) bool
	// lastSync is zero where nobody knows.
	lastSync() link.Sync
}

// leaseKeeper sends heartbeats of our own over the commit connection, from the first session to the last task's end, and ends all tasks
// when the lease is over, whatever a heartbeat waits for just then. sarama's heartbeats go on beside it: they carry the rebalance signal,
// but tell nobody how they fare, and none is sent while a cooperative join is pending.
//
// Where the lease is in doubt by the wall clock, the next heartbeat decides, and its answer has to come soon.
type leaseKeeper struct {
	tenure      *tenure
	coordinator coordinator
	every       time.Duration
	soon        time.Duration // how long the first word of the coordinator may take after a doubt
	static      bool
	end         context.CancelFunc
	done        sync.WaitGroup

	mu      sync.Mutex
	clocks  *clocks
	trouble error // of the last heartbeat
}

func newLeaseKeeper(t *tenure, c coordinator) *leaseKeeper {
	p := t.m.plan
	return &leaseKeeper{
		tenure: t, coordinator: c, every: p.HeartbeatInterval, soon: min(p.HeartbeatInterval+p.CallTimeout, p.Lease),
		static: t.m.instanceID() != nil, clocks: newClocks(termsOf(p)),
	}
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
		b := k.newBeat()
		if k.tenure.wanted(b.joining || b.awaited != 0) && k.beatOnce(ctx, b) {
			return
		}
		_ = link.Sleep(ctx, time.Until(b.at.Add(k.every)))
	}
}

// beat is how it was when a heartbeat was sent.
type beat struct {
	moment
	joining bool
	awaited int32 // generation of the round whose assignment is late, 0 for none
	quiet   bool  // no join or sync was out or due, nor had been for an interval
	inDoubt bool  // by the wall clock
}

func (k *leaseKeeper) newBeat() beat {
	b := beat{joining: k.coordinator.joining(), awaited: k.awaited(), quiet: k.quiet()}
	k.mu.Lock()
	defer k.mu.Unlock()
	b.moment, b.inDoubt = k.clocks.now(), k.clocks.inDoubt()
	return b
}

func (k *leaseKeeper) quiet() bool {
	joining, s := k.coordinator.joining(), k.coordinator.lastSync() // in this order: the sync is due when the join is no longer out
	return !joining && !s.Due && !s.Answered.IsZero() && time.Since(s.Answered) > k.every
}

// beatOnce sends a heartbeat and says whether the membership is over.
func (k *leaseKeeper) beatOnce(ctx context.Context, b beat) (over bool) {
	within, cancel := context.WithDeadline(ctx, k.patience(b))
	defer cancel()
	err := k.coordinator.heartbeat(within, k.tenure.memberID, k.generation(within, b))
	return ctx.Err() == nil && k.take(b, err)
}

// awaited is the generation of a round whose assignment is late, as when its leader is slow or has died: the round that follows on the latest
// assignment, and our sync has been out for an interval.
func (k *leaseKeeper) awaited() int32 {
	s := k.coordinator.lastSync()
	if !s.Out || s.MemberID != k.tenure.memberID || s.Generation != k.tenure.latest()+1 || time.Since(s.Sent) < k.every {
		return 0
	}
	return s.Generation
}

// generation is the one that a heartbeat says. That of the latest assignment is refused from the end of a round on, while the broker waits
// for the leader's word for up to a rebalance or session timeout. That of the round is accepted from then on, but also when the leader has
// spoken and our answer has got lost: so it is asked first whether it has.
//
// Why a good answer then proves that nobody else has our partitions: the group was completing a round after the moment of the heartbeat, and
// it was this one, for generations only rise, we had joined it before, and the heartbeat says that none has followed. As long as the round
// is being completed the coordinator hands out no assignment of it, and in the one before the partitions were ours. What comes later,
// an assignment or another round, starts the broker's clocks after the moment from which ours count. One clock runs already: who has not
// sent a sync is removed a rebalance timeout after the round. If ours has not arrived the next heartbeat says so, as with a join.
func (k *leaseKeeper) generation(ctx context.Context, b beat) int32 {
	if b.awaited != 0 && k.coordinator.completing(ctx) {
		return b.awaited
	}
	return k.tenure.latest()
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

// patience is until when a heartbeat may be answered.
func (k *leaseKeeper) patience(b beat) time.Time {
	end := k.until()
	if soon := b.at.Add(k.soon); b.inDoubt && soon.Before(end) {
		return soon
	}
	return end
}

func (k *leaseKeeper) until() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clocks.end()
}

// take counts an answer and says whether the membership is over.
func (k *leaseKeeper) take(b beat, err error) (over bool) {
	rebalancing := errors.Is(err, sarama.ErrRebalanceInProgress)
	over = isRemoval(err) || k.passedOver(b, err)
	k.mu.Lock()
	switch {
	case err == nil:
		k.clocks.good(b.moment)
	case rebalancing:
		k.clocks.rebalancing(b.moment, b.joining)
	}
	refused := link.Refused(err) && !link.Refused(k.trouble)
	k.trouble = err
	over = over || k.clocks.over() || b.inDoubt && k.clocks.inDoubt()
	k.mu.Unlock()
	switch {
	case over:
		k.tenure.lose(k.lost(err))
	case rebalancing && !b.joining:
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
	return &LeaseError{Silence: time.Since(k.clocks.lastGood), Err: err}
}

// isRemoval finds the answers by which the coordinator says that the member is no longer one. ILLEGAL_GENERATION is not among them:
// it is also the answer between the end of a round and our own assignment.
func isRemoval(err error) bool {
	return errors.Is(err, sarama.ErrUnknownMemberId) || errors.Is(err, sarama.ErrFencedInstancedId)
}

// passedOver finds the answer that says of a static member that its group has gone on without it: a round waits for one that does not
// join no longer than its rebalance timeout, and keeps it, with what it reported last (KIP-345). A dynamic one is removed. The answer says
// nothing from a join to its sync, in which a leader plans, nor just after: the assignment may not have been heard yet.
func (k *leaseKeeper) passedOver(b beat, err error) bool {
	return k.static && errors.Is(err, sarama.ErrIllegalGeneration) && b.quiet && k.quiet()
}

// assigned marks the end of a rebalance round. The broker's clocks may run since the sync was sent: the answer may have lain about, in a
// process that was frozen say. Where that was long ago the next heartbeat has to tell soon.
func (k *leaseKeeper) assigned() {
	sent := k.coordinator.lastSync().Sent
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clocks.now()
	ago := max(min(now.at.Sub(sent), k.tenure.m.plan.Lease-k.soon), 0)
	k.clocks.good(now.less(ago))
}

// left is how long the lease lasts without further news.
func (k *leaseKeeper) left() time.Duration { return time.Until(k.until()) }
