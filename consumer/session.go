package consumer

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// session is a sarama session whose member commits by itself and holds a lease.
type session struct {
	sarama.ConsumerGroupSession
	m      *membership
	round  *round
	since  time.Time
	tenure *tenure // nil over a ConsumerGroup of the user

	heard atomic.Int32 // generation of the latest assignment
	gap   atomic.Int32 // the latest that was heard after one had been missed, 0 for none
}

var _ member.Session = (*session)(nil)

func newSession(m *membership, r *round, s sarama.ConsumerGroupSession) *session {
	own := &session{ConsumerGroupSession: s, m: m, round: r, since: time.Now()}
	own.heard.Store(s.GenerationID())
	if m.link != nil {
		own.tenure = m.tenureOf(s.MemberID(), s.GenerationID())
	}
	return own
}

// Work implements member.Session.
func (s *session) Work() context.Context { return s.tenure.work }

// Overdue implements member.Session. The wall clock is not asked: what it casts doubt on, the next heartbeat decides.
func (s *session) Overdue() bool { return s.tenure.lease.left() <= 0 }

// Stopping implements member.Session. A session ends once, so it is the stop that has ended it if its cause is that of Run's context.
func (s *session) Stopping() bool {
	run := s.round.run
	if run.Err() == nil || !same(context.Cause(s.Context()), context.Cause(run)) {
		return false
	}
	return s.m.followUp.drains() || !s.m.willDrain() // else its tasks go on
}

// Hurry implements member.Session.
func (s *session) Hurry() <-chan struct{} { return s.tenure.hurry }

// Restart implements member.Session. Several claims may ask for it.
func (s *session) Restart(topic string) {
	if !over(s.round.session) {
		s.m.restart(topic, s.round)
	}
}

// Yield implements member.Session.
func (s *session) Yield() { s.m.followUp.nudge() }

// Rejoin implements member.Session.
func (s *session) Rejoin(cause error) { s.m.followUp.ask(s.round, cause) }

// same says that two errors are one. A user's error may be of a kind that cannot be compared.
func same(a, b error) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if !x.IsValid() || !y.IsValid() || x.Type() != y.Type() {
		return false
	}
	return !x.Comparable() || x.Equal(y)
}

// Committer implements member.Session.
func (s *session) Committer(topic string, partition int32) member.Committer {
	o := &owner{session: s, id: s.MemberID()}
	o.trusted.Store(s.generation())
	return s.m.commits.Claim(o, topic, partition)
}

// hears takes the generation of an assignment. Claims that go on although one was missed commit with it when they are trusted again.
func (s *session) hears(generation int32) {
	if generation > s.generation()+1 {
		s.gap.Store(generation)
	}
	s.heard.Store(generation)
}

// generation is that of the latest assignment. sarama tells the strategy first and the session a moment later; an assignment of zero
// bytes, which a leader that is not ours may send, is told to the session alone.
func (s *session) generation() int32 { return max(s.heard.Load(), s.GenerationID()) }

// owner is the identity that a claim commits with: the member id under which it was claimed, and the generation of the latest
// assignment that was received while it is held. That assignment contains the partition, or it is the one by which a live
// cooperative session learns that the partition is revoked; the leader withholds it from others until we have let it go. A commit
// never carries a newer generation than the claim lives to see, nor one that follows a missed one before it is trusted: in the one
// between, the partition may have been somebody else's.
type owner struct {
	session *session
	id      string
	trusted atomic.Int32
}

var _ commit.Owner = (*owner)(nil)

func (o *owner) MemberID() string { return o.id }

func (o *owner) Generation() int32 {
	latest := o.session.generation() // before the gap, which is told first
	if trusted := o.trusted.Load(); o.session.gap.Load() > trusted {
		return trusted
	}
	return latest
}

func (o *owner) Trust(generation int32) { o.trusted.Store(generation) }

func (r *round) enter(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = s
}

func (r *round) leave() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.current
	r.current = nil
	return s
}

func (r *round) live() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

func (r *round) finish(e sessionEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcome = e
}

// liveSession is the session that goes on now, nil between two.
func (m *membership) liveSession() *session {
	if r := m.currentRound(); r != nil {
		return r.live()
	}
	return nil
}
