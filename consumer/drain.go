package consumer

import (
	"context"
	"log/slog"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// A member that stops and waits for its tasks, or for what has ended to be stored, drains meanwhile: it stays a member, starts nothing more, and others have at once what is idle.
// What is busy follows as its task ends. When nothing runs any more and what has ended is stored, or the grace is over, it stops as any other.

// mayDrain says that the group plans in a way that lets a member do so.
func (m *membership) mayDrain() bool { return m.alone && m.plan.HoldLimit > 0 && m.plan.StopGrace > 0 }

// drains says that this member does so for its tasks. Where the plan cancels them first, it waits for none.
func (m *membership) drains() bool { return m.mayDrain() && !m.plan.StopCancelFirst }

// willDrain decides, once Run's context has ended, whether the member drains.
func (m *membership) willDrain() bool {
	m.decide.Do(func() {
		m.stopBy() // begins now
		if m.works() {
			m.decided = m.drains()
		} else {
			m.decided = m.mayDrain() && m.owes()
		}
	})
	return m.decided
}

// drain stays a member for the tasks that run, at most for the grace of the stop.
func (m *membership) drain(run context.Context) {
	if !m.willDrain() {
		return
	}
	ctx, end := context.WithDeadlineCause(context.WithoutCancel(run), m.stopBy(), handler.ErrDraining)
	defer end()
	m.followUp.drain()
	m.helpers.Go(func() { // ends with ctx
		m.awaitDrained(ctx)
		end()
	})
	var tries backoff
	for !over(ctx) {
		round, err := m.consumeOnce(ctx)
		if over(ctx) {
			return
		}
		if fatal := m.between(ctx, round, err, &tries); fatal != nil {
			m.log.WarnContext(ctx, "the member can no longer drain: its tasks go on to the end of the grace, and nothing else moves before", slog.Any("error", fatal))
			m.hooks.failed(fatal)
			return
		}
	}
}

// awaitDrained waits until no task runs, and what has ended is stored. A task that ends between two sessions commits with the generation of the
// one before, which the broker refuses when a round has gone by: the next session stores it, and the drain must not end before.
func (m *membership) awaitDrained(ctx context.Context) {
	for m.works() && link.Sleep(ctx, another) == nil {
	}
	until := time.Now().Add(longestAnswer)
	for link.Sleep(ctx, another) == nil && m.commits.Unanswered() > 0 && time.Now().Before(until) {
	}
}

// works says that a task runs, in a claim or between two. One that was given up counts for nothing.
func (m *membership) works() bool {
	s := m.tasks.Status()
	return s.Running > s.Stray
}

// owes says that a result waits for a session that has not begun: its task has ended in or after one that is over, whose generation the broker
// may refuse by now. Who stops then without another session throws the result away.
func (m *membership) owes() bool {
	live := m.liveSession()
	return m.commits.UnansweredOf(func(by commit.Owner) bool {
		o, own := by.(*owner)
		return own && o.session != live
	}) > 0
}

// stopBy is the end of the grace of a stop that has begun. The first to ask sets it.
func (m *membership) stopBy() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deadline.IsZero() {
		m.deadline = time.Now().Add(m.plan.StopGrace)
	}
	return m.deadline
}

// Draining implements member.Session.
func (s *session) Draining() bool { return s.m.followUp.drains() }

// StopGrace implements member.Session.
func (s *session) StopGrace() time.Duration { return s.m.stopGrace() }

// stopGrace is what is left of the grace of a stop. A member that drains has begun it before.
func (m *membership) stopGrace() time.Duration {
	if !m.drains() {
		return m.plan.StopGrace
	}
	return max(time.Until(m.stopBy()), 0)
}

// leaveAsStatic makes a static member that has drained leave the group. sarama does not: a static member may be back soon, and then has
// its partitions still. This one has given them away, and would get nothing until its session timeout is over.
func (m *membership) leaveAsStatic(ctx context.Context) error {
	t, id := m.currentTenure(), m.instanceID()
	if t == nil || id == nil || !m.followUp.drains() {
		return nil
	}
	req := &sarama.LeaveGroupRequest{Version: 3, GroupId: m.cfg.Group, Members: []sarama.MemberIdentity{{MemberId: t.memberID, GroupInstanceId: id}}}
	resp, err := m.link.Leave(ctx, req)
	if err != nil {
		return err
	}
	for _, one := range resp.Members {
		if one.Err != sarama.ErrNoError {
			return one.Err
		}
	}
	return kerror(resp.Err)
}
