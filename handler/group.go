package handler

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// GroupHandler is the sarama.ConsumerGroupHandler that runs a [Handler]. It serves one consumer group at a time, over any number of
// sessions: tasks belong to it and not to a session. Make one with [New]; safe for concurrent use.
type GroupHandler struct {
	opts   Options
	pool   *pool
	heard  *ownership
	logger *slog.Logger

	mu      sync.Mutex
	commits map[context.Context]*commits // by the session's: a session may be wrapped, and a wrapper need not be comparable
}

var _ sarama.ConsumerGroupHandler = (*GroupHandler)(nil)

// BalanceStrategies wraps strategies so that the handler hears each assignment before sarama acts on it: a revoked partition then
// stops starting tasks at once, and a partition whose stream broke is told from one that was revoked. Without arguments it is
// [GroupHandler.WorkPreserving] alone. Set the result as Consumer.Group.Rebalance.GroupStrategies. Where strategies of more than one name
// were wrapped, be it in several calls, the group counts as a mixed one, in which no task goes on between two claims. It must not be
// shared between groups. One that is nil, or has the name of one before it, is left out and logged as an error; sarama takes the first of a
// name. Beside ours another one says at a join what it has said itself with its latest assignment, and not Consumer.Group.Member.UserData.
func (g *GroupHandler) BalanceStrategies(s ...sarama.BalanceStrategy) []sarama.BalanceStrategy {
	if s = g.sound(s); len(s) == 0 {
		s = []sarama.BalanceStrategy{g.WorkPreserving()}
	}
	beside := slices.ContainsFunc(s, isOurs)
	wrapped := make([]sarama.BalanceStrategy, len(s))
	for i, one := range s {
		switch {
		case isOurs(one):
			wrapped[i] = one
		case beside:
			wrapped[i] = strategy.Heard(strategy.OwnData(one, nil), voice{g}.assignedByOther)
		default:
			wrapped[i] = strategy.Heard(one, voice{g}.assignedByOther)
		}
	}
	g.heard.offer(s)
	return wrapped
}

func isOurs(s sarama.BalanceStrategy) bool {
	_, ours := s.(*strategy.Preserving)
	return ours
}

// sound leaves out what sarama could do nothing with.
func (g *GroupHandler) sound(s []sarama.BalanceStrategy) (list []sarama.BalanceStrategy) {
	for i, one := range s {
		switch {
		case isNil(one):
			g.logger.Error("a balance strategy that is nil is left out: remove it from the call of BalanceStrategies", slog.Int("argument", i+1))
		case slices.ContainsFunc(list, func(before sarama.BalanceStrategy) bool { return before.Name() == one.Name() }):
			g.logger.Error("a balance strategy is left out whose name is there already: remove it from the call of BalanceStrategies",
				slog.Int("argument", i+1), slog.String("strategy", one.Name()))
		default:
			list = append(list, one)
		}
	}
	return list
}

// WorkPreserving is this library's own balance strategy, named "evenkeel" in the group: it takes no partition from a member in the middle
// of a task. Idle partitions move at once towards balance; a busy one moves when its task has ended, or been cancelled past the plan's
// HoldLimit (over a plain sarama group in the next round that comes for another reason). All members of the group have to offer it, and it
// rebalances by the plan's protocol. Where a group migrates from another strategy, or back, pass it to [GroupHandler.BalanceStrategies]
// before the other one.
func (g *GroupHandler) WorkPreserving() sarama.BalanceStrategy {
	protocol := sarama.RebalanceProtocolCooperative
	if g.opts.Plan.Input.Eager {
		protocol = sarama.RebalanceProtocolEager
	}
	return strategy.NewPreserving(voice{g}, protocol)
}

// TopicReplaced ends what goes on of a topic between two claims, and is for a topic that was deleted and created again: its offsets are
// those of another log. What was committed of it until then counts for nothing, which is remembered by topic; over a plain sarama group,
// where nobody can read a commit, it is not. Package consumer calls it where the cluster tells topics apart.
func (g *GroupHandler) TopicReplaced(topic string) { g.heard.topicReplaced(topic) }

// Setup implements sarama.ConsumerGroupHandler: tasks of partitions that the session does not have are cancelled. It returns nil.
func (g *GroupHandler) Setup(s sarama.ConsumerGroupSession) error {
	if !g.heard.begin(s.Claims(), s.GenerationID()) {
		g.pool.handOver(s.Claims(), strategy.Word{})
	}
	g.pool.sessionBegins()
	return nil
}

// Cleanup implements sarama.ConsumerGroupHandler: it waits for commits that are under way, and returns nil.
func (g *GroupHandler) Cleanup(s sarama.ConsumerGroupSession) error {
	g.mu.Lock()
	c := g.commits[s.Context()]
	delete(g.commits, s.Context())
	g.mu.Unlock()
	if c != nil {
		c.wg.Wait()
	}
	return nil
}

// ConsumeClaim implements sarama.ConsumerGroupHandler: it runs the tasks of one partition until the partition is revoked, lost or
// the group stops. It returns at most one second after the grace that the reason allows, even if a task hangs and ignores its
// context. The error is always nil: failures of tasks are retried and logged.
func (g *GroupHandler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	l := g.newLoop(s, c)
	defer l.stop()
	l.predecessor = g.heard.enter(l)
	defer context.AfterFunc(l.work, l.workEnded)()
	g.enter(l.claim)
	l.run()
	return nil
}

// newLoop notes where the log ends before anything else: sarama has just compared the commit with that, and each fetch moves the mark on. A
// log that was replaced, and grows beyond the commit while the claim reads it, would look as if the commit were of its own.
func (g *GroupHandler) newLoop(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) *loop {
	logEnd := c.HighWaterMarkOffset()
	source, _ := c.(pauser)
	committer := g.committerOf(s, c)
	plan := g.opts.Plan
	l := &loop{
		claim: newClaim(s.Context(), c, g.pool), group: s, session: s.Context(), work: workOf(s), heard: g.heard,
		messages: c.Messages(), logEnd: logEnd, committer: committer, plan: plan, retry: g.opts.Retry,
		doubted: make(chan struct{}, 1), recalled: make(chan struct{}), gone: make(chan struct{}), lingered: make(chan struct{}),
		alarm: newAlarm(), open: true, first: true, lastCommit: -plan.CommitInterval,
	}
	if own, ok := s.(member.Session); ok {
		l.overdue, l.draining = own.Overdue, own.Draining()
	}
	l.account = account{limit: committer.MaxMetadata(), bare: plainSession(committer), next: -1}
	l.room = l.newRoom(source)
	return l
}

// workOf returns the context that ends when all tasks have to stop. A plain sarama session has none but its own.
func workOf(s sarama.ConsumerGroupSession) context.Context {
	if own, ok := s.(member.Session); ok {
		return own.Work()
	}
	return context.Background()
}

func (g *GroupHandler) enter(c *claim) {
	p := g.pool
	p.mu.Lock()
	p.enterLocked(c)
	blocked := c.before != nil
	p.mu.Unlock()
	if blocked {
		c.logger.LogAttrs(context.Background(), slog.LevelWarn,
			"a task that was given up still runs on this partition: nothing starts there before it has returned")
	}
	p.hooks.claimed(c.key)
}

// Wait returns nil as soon as no task runs, or the cause of ctx when it ends first. Call it after the group has stopped, when tasks
// that were given up should end before the process does. Over a plain sarama group tasks that go on between two sessions do so for the
// plan's Lease at most, also when no session follows.
func (g *GroupHandler) Wait(ctx context.Context) error {
	select {
	case <-g.pool.whenIdle():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
