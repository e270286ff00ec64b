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

// Stopping implements member.Session. A session ends once, so it is the stop that has ended it if its cause is that of Run's context.
func (s *session) Stopping() bool {
	run := s.round.run
	return run.Err() != nil && same(context.Cause(s.Context()), context.Cause(run))
}

// Hurry implements member.Session.
func (s *session) Hurry() <-chan struct{} { return s.tenure.hurry }

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
	return s.m.commits.Claim(owner{session: s, id: s.MemberID()}, topic, partition)
}

// generation is that of the latest assignment. sarama tells the strategy first and the session a moment later; an assignment of zero
// bytes, which a leader that is not ours may send, is told to the session alone.
func (s *session) generation() int32 { return max(s.heard.Load(), s.GenerationID()) }

// owner is the identity that a claim commits with: the member id under which it was claimed, and the generation of the latest
// assignment that was received while it is held. That assignment contains the partition, or it is the one by which a live
// cooperative session learns that the partition is revoked; the leader withholds it from others until we have let it go. A commit
// never carries a newer generation than the claim lives to see.
type owner struct {
	session *session
	id      string
}

var _ commit.Owner = owner{}

func (o owner) MemberID() string  { return o.id }
func (o owner) Generation() int32 { return o.session.generation() }

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
