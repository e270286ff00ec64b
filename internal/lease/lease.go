// Package lease is the arithmetic of how long a member may go on without news from its coordinator. It is pure: whoever sends the
// heartbeats brings the times.
//
// The broker gives a member's partitions away for two reasons: it has not heard from the member for the session timeout, or the
// member has not joined a rebalance within the rebalance timeout. The member cannot see either happen while it is cut off, but it
// knows when it sent the last heartbeat that was answered well. Both clocks run from there, so that the lease ends before the
// broker can have acted, whatever happened to the answers.
package lease

import "time"

// Terms are the timeouts that the member has told the broker, and how much earlier its tasks stop.
type Terms struct {
	Session   time.Duration // Group.Session.Timeout
	Rebalance time.Duration // Group.Rebalance.Timeout
	Margin    time.Duration // time to notice, to cancel and to return
}

// Lease is the state of one membership. Those who share it bring the lock.
type Lease struct {
	terms     Terms
	session   time.Time // since when the session clock runs
	rebalance time.Time // since when the rebalance clock runs
}

// New starts both clocks at the time of an assignment.
func New(t Terms, assigned time.Time) *Lease {
	return &Lease{terms: t, session: assigned, rebalance: assigned}
}

// Good takes a heartbeat that was answered without error, or an assignment, which ends a round. What counts is when the heartbeat was
// sent: the broker's clocks start no earlier.
func (l *Lease) Good(sent time.Time) {
	l.session = later(l.session, sent)
	l.rebalance = later(l.rebalance, sent)
}

// Rebalancing takes a heartbeat that was answered with REBALANCE_IN_PROGRESS: the session goes on, but a member that does not join
// in time is removed although it sends heartbeats. joining says that our own join was pending when the heartbeat was sent: the answer
// then says that the round is still open, so nobody else can own our partitions yet.
func (l *Lease) Rebalancing(sent time.Time, joining bool) {
	l.session = later(l.session, sent)
	if joining {
		l.rebalance = later(l.rebalance, sent)
	}
}

// End returns when tasks have to stop unless news come.
func (l *Lease) End() time.Time {
	end := earlier(l.session.Add(l.terms.Session), l.rebalance.Add(l.terms.Rebalance))
	return end.Add(-l.terms.Margin)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
