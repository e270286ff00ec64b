package consumer

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// errTopicsChanged ends a session whose topics are no longer those that TopicPattern matches. It is a rebalance to the tasks.
const errTopicsChanged = rejoin("the topics that match Config.TopicPattern have changed")

// rejoin is why a member ends its session to join again. It is handler.ErrRevoked to who asks, without its words: nothing need be revoked.
type rejoin string

func (r rejoin) Error() string      { return string(r) }
func (rejoin) Is(target error) bool { return target == handler.ErrRevoked }

// round is one call of Consume. Its contexts are separate, because a stop ends them one after another: first the session, so that
// nothing starts any more; when no task runs, the connections under it.
type round struct {
	run     context.Context // of Run
	session context.Context // given to Consume; below run, so that nothing starts once run has ended, however soon
	end     context.CancelCauseFunc
	binding context.Context // of the group connection
	cut     context.CancelFunc

	mu      sync.Mutex
	claims  int           // that are held
	idle    chan struct{} // closed when no claim is held; nil as long as nobody asked
	current *session      // from Setup to Cleanup
	outcome sessionEnd
}

// sessionEnd is what became of a round.
type sessionEnd struct {
	kind   EndKind
	lasted time.Duration
}

// calm says that the next Consume may follow at once.
func (e sessionEnd) calm() bool { return e.kind == EndRebalance || e.lasted >= calm }

func newRound(run context.Context) *round {
	r := &round{run: run}
	r.session, r.end = context.WithCancelCause(run)
	r.binding, r.cut = context.WithCancel(context.Background())
	return r
}

// close ends what the round has started.
func (r *round) close() {
	r.end(nil)
	r.cut()
}

// lose ends session and connections at once: another member may own the partitions.
func (r *round) lose(cause error) {
	r.end(cause)
	r.cut()
}

// result is set by Cleanup; a round without a session has none.
func (r *round) result() sessionEnd {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcome
}

func (r *round) claimed(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claims += n
	if r.claims == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// whenIdle returns a channel that is closed once no claim is held.
func (r *round) whenIdle() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claims == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	return r.idle
}

// consumeOnce is one Consume, with everything that goes on beside it.
func (m *membership) consumeOnce(ctx context.Context) (sessionEnd, error) {
	r := newRound(ctx)
	m.setRound(r)
	defer m.setRound(nil)
	if m.link != nil {
		unbind := m.link.Bind(r.binding)
		defer unbind()
	}
	done := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { m.stopRound(ctx, r, done) }) // ends with done
	err := m.consumeTopics(&beside, r, done)
	close(done)
	r.close()
	beside.Wait()
	return r.result(), m.meant(r, err)
}

func (m *membership) consumeTopics(beside *sync.WaitGroup, r *round, done <-chan struct{}) error {
	topics, err := m.sureTopics(r.session)
	if err != nil {
		return err
	}
	if m.link != nil {
		m.link.Subscribe(topics...)
	}
	if m.cfg.TopicPattern != nil {
		beside.Go(func() { m.watchTopics(r, topics, done) }) // ends with done
	}
	return m.group.Consume(r.session, topics, &groupHandler{membership: m, round: r})
}

// meant drops the errors that are only echoes of how we ended the round ourselves.
func (m *membership) meant(r *round, err error) error {
	if errors.Is(context.Cause(r.session), handler.ErrLost) {
		return nil // told already
	}
	return err
}

// stopRound waits for the stop and takes the round down: session first, connections when no task runs, and what still hangs then by
// force.
func (m *membership) stopRound(ctx context.Context, r *round, done <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-done:
		return
	}
	m.watched.enter(StateStopping)
	m.tellStop(ctx)
	select {
	case <-r.whenIdle():
	case <-done:
		return
	}
	m.awaitName(done)
	r.cut()
	if m.link == nil {
		return
	}
	patience := patienceAtStop
	if !m.followUp.drains() && m.willDrain() { // the connections are still of use
		patience += time.Until(m.stopBy())
	}
	select {
	case <-time.After(patience):
		m.link.Cut()
	case <-done:
	}
}

// awaitName waits for the answer to a member's first join, if that is out: as long as the member does not know its id it cannot leave, and the
// next round of the group would wait for its session timeout. The coordinator answers at once (KIP-394; brokers before 2.2 do not). A
// static member does not leave.
func (m *membership) awaitName(done <-chan struct{}) {
	if m.link == nil || m.instanceID() != nil {
		return
	}
	limit := time.After(nameLimit)
	for m.link.JoiningUnnamed() {
		select {
		case <-time.After(nameLook):
		case <-limit:
			return
		case <-done:
			return
		}
	}
}

func (m *membership) setRound(r *round) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.round = r
}

func (m *membership) currentRound() *round {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.round
}

// watchTopics ends the round when TopicPattern matches other topics than at its start.
//
// A session that ends leaves sarama's cooperative balancer without a word of what the member has: its partitions come back to it as
// long as the other members still hold theirs. Those that end together get any of theirs. So each member waits for a moment of its
// own, in which the group is not rebalancing.
func (m *membership) watchTopics(r *round, topics []string, done <-chan struct{}) {
	tick := time.NewTicker(m.plan.MetadataRefresh)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		pause := rand.N(m.plan.MetadataRefresh) //nolint:gosec // spreads members out, keeps no secret
		if m.topicsChanged(r.session, topics) && link.Sleep(r.session, pause) == nil && m.undisturbed(r.session) {
			r.end(errTopicsChanged)
			return
		}
	}
}

func (m *membership) topicsChanged(ctx context.Context, topics []string) bool {
	now, err := m.sureTopics(ctx)
	return err == nil && !slices.Equal(now, topics)
}

// undisturbed asks the coordinator whether the group is at rest.
func (m *membership) undisturbed(ctx context.Context) bool {
	t := m.currentTenure()
	if t == nil {
		return true // nobody has a claim yet
	}
	ctx, cancel := context.WithTimeout(ctx, m.plan.CallTimeout)
	defer cancel()
	return m.heartbeat(ctx, t.memberID, t.generation.Load()) == nil
}
