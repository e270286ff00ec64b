package consumer

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// KindOf, Explain, Pauses, Warner and Diff open internals to the tests.
var KindOf = kindOf

func (c *Consumer) Explain(err error) error { return c.explain(err) }

// Judge is one more failed try of a run of tries.
func (c *Consumer) Judge(tries *Tries, err error) error { return c.judge(err, &tries.backoff) }

func (c *Consumer) SetJoined() { c.watched.joined("m-1", 1) }

// SetStopping is the stop, SetTopicMissing what the link tells.
func (c *Consumer) SetStopping()                 { c.watched.enter(StateStopping) }
func (c *Consumer) SetTopicMissing(topic string) { c.topicMissing(topic, true) }

type Tries struct{ backoff }

func (t *Tries) Next() time.Duration { return t.next() }

func Warner(l *slog.Logger) func(kind string) {
	t := newThrottle(l)
	return func(kind string) { t.warn(kind, "trouble") }
}

// Guard runs a lease of which no heartbeat is ever answered, and returns why the tasks were cancelled at its end.
func (c *Consumer) Guard() error {
	m := &membership{Consumer: c, plan: c.cfg.Plan, tasks: c.tasks.Load(), conf: cmp.Or(c.cfg.Sarama, sarama.NewConfig())}
	t := newTenure(m, "m-1", 1, m)
	t.enter(&session{m: m, round: newRound(context.Background())})
	t.lease.guard(context.Background())
	return context.Cause(t.work)
}

// Hear makes a consumer hear an assignment, as sarama's strategy would.
func (c *Consumer) Hear(a strategy.Assignment, generation int32) {
	c.detached().assigned(strategy.Name, a, generation)
}

// Member is a membership whose steps the test takes.
type Member struct{ m *membership }

// Open makes the way to the brokers, as Run does first.
func (c *Consumer) Open(ctx context.Context) (*Member, error) {
	m, err := c.open(ctx)
	return &Member{m}, err
}

func (c *Consumer) detached() *membership {
	m := &membership{
		Consumer: c, run: context.Background(), plan: c.cfg.Plan, tasks: c.tasks.Load(), conf: cmp.Or(c.cfg.Sarama, sarama.NewConfig()), lateCommits: newThrottle(c.log),
	}
	m.followUp = &followUp{m: m}
	return m
}

// Detach makes a membership without connections, whose commits the test answers. They are sent until ctx ends.
func (c *Consumer) Detach(ctx context.Context, send func(context.Context, commit.Request) ([]error, error)) *Member {
	m := c.detached()
	m.commits = commit.New(commit.Options{
		Send: send, Notify: m.commitAnswered, Moved: func(context.Context) {},
		LookUp: func(context.Context, string, int32) (member.Position, error) { return member.Position{Offset: 0}, nil },
	})
	m.helpers.Go(func() { m.commits.Run(ctx) }) // ends with ctx
	return &Member{m}
}

func (m *Member) Link() *link.Link              { return m.m.link }
func (m *Member) Joining() bool                 { return m.m.joining() }
func (m *Member) SessionTimeout() time.Duration { return m.m.plan.SessionTimeout }
func (m *Member) Plan() *config.Plan            { return m.m.plan }
func (m *Member) Close() error                  { return m.m.link.Close() }
func (m *Member) Wait()                         { m.m.helpers.Wait() }

func (m *Member) Topics(ctx context.Context) ([]string, error) { return m.m.sureTopics(ctx) }
func (m *Member) Told(err error) bool                          { return m.m.told(err) }
func (m *Member) Tasks() *handler.GroupHandler                 { return m.m.tasks }
func (m *Member) Dismiss()                                     { m.m.dismiss() }
func (m *Member) SetStopping()                                 { m.m.watched.enter(StateStopping) }
func (m *Member) WillDrain() bool                              { return m.m.willDrain() }
func (m *Member) Stopped()                                     { m.m.stopped(nil) }

// WatchTopics watches the topics of a session until it ends, and returns why.
func (m *Member) WatchTopics(ctx context.Context, topics []string) error {
	r := newRound(ctx)
	m.m.tenure = newTenure(m.m, "m-1", 1, m.m)
	m.m.watchTopics(r, topics, r.session.Done())
	return context.Cause(r.session)
}

// LeaveOver ends the membership with another group.
func (m *Member) LeaveOver(g sarama.ConsumerGroup) {
	m.m.group = g
	m.m.leave()
}

func (m *Member) Completing(ctx context.Context) bool { return m.m.completing(ctx) }

func (m *Member) Heartbeat(ctx context.Context) error { return m.m.heartbeat(ctx, "m-1", 1) }

func (m *Member) Committed(ctx context.Context, topic string, partition int32) (member.Position, error) {
	return m.m.committed(ctx, topic, partition)
}

func (m *Member) Commit(ctx context.Context, r commit.Request) ([]error, error) {
	return m.m.sendCommit(ctx, r)
}

// Assign makes the member hear an assignment in the middle of a session.
func (m *Member) Assign(a strategy.Assignment, generation int32) {
	m.m.assigned(strategy.Name, a, generation)
}

// Coordinator answers what a lease asks.
type Coordinator struct {
	Beat       func(ctx context.Context) error
	BeatIn     func(ctx context.Context, generation int32) error // in place of Beat
	Joining    func() bool
	Completing func() bool
	Sync       func() link.Sync // nil: just now
}

func (c Coordinator) heartbeat(ctx context.Context, _ string, generation int32) error {
	if c.BeatIn != nil {
		return c.BeatIn(ctx, generation)
	}
	return c.Beat(ctx)
}

func (c Coordinator) joining() bool                   { return c.Joining != nil && c.Joining() }
func (c Coordinator) completing(context.Context) bool { return c.Completing != nil && c.Completing() }

func (c Coordinator) lastSync() link.Sync {
	if c.Sync == nil {
		return link.Sync{Sent: time.Now(), Answered: time.Now()}
	}
	return c.Sync()
}

// SetClock makes the wall clock of the lease another one.
func (m *Member) SetClock(wall func() time.Time) { m.m.tenure.lease.setClock(wall) }

func (k *leaseKeeper) setClock(wall func() time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clocks.wall = wall
}

// Begin begins a session, as Setup does over connections of our own, and its lease.
func (m *Member) Begin(s sarama.ConsumerGroupSession, c Coordinator) (own member.Session, end func()) {
	r := newRound(m.m.run)
	m.m.setRound(r)
	began := newSession(m.m, r, s)
	t := newTenure(m.m, s.MemberID(), s.GenerationID(), c)
	m.m.tenure, began.tenure = t, t
	r.enter(began)
	t.enter(began)
	t.lease.start()
	return began, t.lease.stop
}

// EndSession ends the session that Begin has begun.
func (m *Member) EndSession() {
	m.m.round.leave()
	m.m.tenure.leave()
}

// Keep says how many tasks go on after it.
func (m *Member) Keep(tasks int) { m.m.tenure.kept = func() int { return tasks } }

// DetachWith is Detach with answers to look-ups.
func (c *Consumer) DetachWith(ctx context.Context, send func(context.Context, commit.Request) ([]error, error), lookUp func() member.Position) *Member {
	m := c.detached()
	c.watched.of(m)
	m.commits = commit.New(commit.Options{
		MaxMetadata: 4096, Send: send, Notify: m.commitAnswered, Moved: func(context.Context) {},
		LookUp: func(context.Context, string, int32) (member.Position, error) { return lookUp(), nil },
	})
	m.helpers.Go(func() { m.commits.Run(ctx) }) // ends with ctx
	return &Member{m}
}

// Again begins the next session of the same tenure.
func (m *Member) Again(s sarama.ConsumerGroupSession) member.Session {
	r := newRound(context.Background())
	m.m.setRound(r)
	began := &session{ConsumerGroupSession: s, m: m.m, round: r, since: time.Now(), tenure: m.m.tenure}
	began.heard.Store(s.GenerationID())
	r.enter(began)
	m.m.tenure.enter(began)
	return began
}

// Replaced is told by the link.
func (c *Consumer) Replaced(topic string) { c.topicReplaced(topic) }

// Offer are the strategies of the member, which it hears.
func (m *Member) Offer() []sarama.BalanceStrategy { return m.m.hear(m.m.tasks.BalanceStrategies()) }

// Offered are the strategies of a consumer over connections of its own.
func (c *Consumer) Offered(conf *sarama.Config) []sarama.BalanceStrategy {
	return c.offers(c.tasks.Load(), conf)
}

// OfferAlso is another strategy that is offered beside it.
func (m *Member) OfferAlso(s sarama.BalanceStrategy) sarama.BalanceStrategy {
	return m.m.hear(m.m.tasks.BalanceStrategies(m.m.tasks.WorkPreserving(), s))[1]
}

// RoundContext is what Consume was given.
func (m *Member) RoundContext() context.Context { return m.m.round.session }

// Work is the parent of the contexts of all tasks.
func (m *Member) Work() context.Context { return m.m.tenure.work }

// Rejoin begins the next session of a member, as Setup does, and says whether it goes on under the same tenure.
func (m *Member) Rejoin(memberID string) (same bool) {
	before := m.m.tenure
	m.m.link = &link.Link{} // connections of our own
	t := m.m.tenureOf(memberID, 2)
	m.m.link = nil
	defer t.lease.stop()
	return t == before
}

// Lose ends the tenure as a removal does.
func (m *Member) Lose() { m.m.tenure.lose(&LeaseError{Err: sarama.ErrUnknownMemberId}) }

// RunsIn sets the context of Run of a member that offers our own strategy alone.
func (m *Member) RunsIn(ctx context.Context) { m.m.run, m.m.alone = ctx, true }

// TellStop, and EndRun are what a stop says at its begin and at its end.
func (m *Member) TellStop() { m.m.tellStop(m.m.run) }

func (m *Member) EndRun() {
	m.m.tellStrays()
	m.m.stopped(nil)
}

// AwaitDrained waits as a drain does.
func (m *Member) AwaitDrained(ctx context.Context) { m.m.awaitDrained(ctx) }

// Works says that a task runs that counts.
func (m *Member) Works() bool { return m.m.works() }

// Borrowed completes a report as over a ConsumerGroup of the user.
func (m *Member) Borrowed() func(*assign.Report) {
	other := &membership{Consumer: m.m.Consumer, plan: m.m.plan, tasks: m.m.tasks}
	return (&followUp{m: other}).report
}
