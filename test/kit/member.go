package kit

import (
	"context"
	"log/slog"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// Member is a member of the group in this process.
type Member struct {
	*consumer.Consumer
	*life
}

// life is what remains to be known of a member that has stopped. The end of the test holds on to it, and not to the member.
type life struct {
	Name  string
	group *Group
	stop  context.CancelFunc
	done  chan struct{}
	err   error // of Run; valid once done is closed
}

// Start runs a member until [Member.Stop] or the end of the test. change may alter its configuration.
func (g *Group) Start(name string, work handler.Func, change ...func(*consumer.Config)) *Member {
	g.t.Helper()
	m, err := g.newMember(name, work, change...)
	g.must(err)
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	g.Note("%s starts", name)
	go m.run(ctx) // ends with stop; Stop and the cleanup wait for it
	g.t.Cleanup(m.life.halt)
	return m
}

func (g *Group) newMember(name string, work handler.Func, change ...func(*consumer.Config)) (*Member, error) {
	w := &witness{member: name, history: g.History}
	plan, err := g.Input.Plan()
	if err != nil {
		return nil, err
	}
	cfg := consumer.Config{
		Brokers: g.Broker.Addrs(), Sarama: g.Broker.Config(), Group: g.Name, Topics: []string{g.Topic}, Plan: plan,
		Order: g.Order, Slots: g.Slots,
		Logger: slog.New(&logWitness{witness: w}), Hooks: []any{w},
	}
	for _, f := range change {
		f(&cfg)
	}
	if g.Sticky && config.Chosen(cfg.Sarama) == nil {
		cfg.Sarama.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{stickyOf(plan)}
	}
	c, err := consumer.New(cfg, w.around(work))
	if err != nil {
		return nil, err
	}
	return &Member{Consumer: c, life: &life{Name: name, group: g, done: make(chan struct{})}}, nil
}

func stickyOf(p *config.Plan) sarama.BalanceStrategy {
	if p.Input.Eager {
		return sarama.NewBalanceStrategySticky()
	}
	return sarama.NewBalanceStrategyCooperativeSticky()
}

func (m *Member) run(ctx context.Context) {
	m.err = m.Run(ctx)
	m.group.Add(Event{Member: m.Name, Kind: Stopped, Err: m.err})
	close(m.done)
}

// Stop ends the member in order, and returns how long that took. The test fails if Run returns an error.
func (m *Member) Stop() time.Duration {
	m.group.t.Helper()
	begin := m.BeginStop()
	return m.AwaitStop().Sub(begin)
}

// Expel says that the coordinator is about to let go of a member, and returns when that was: what the member starts until it hears of it does
// not count.
func (g *Group) Expel(m *Member) time.Time {
	now := g.Note("the coordinator lets go of %s", m.Name)
	g.ExpelledAt(m.Name, now)
	return now
}

// ExpelledAt is [Group.Expel] for a member, in whatever process, that is expelled at some other time.
func (g *Group) ExpelledAt(member string, at time.Time) {
	g.Add(Event{At: at, Member: member, Kind: Expelled})
}

// BeginStop asks the member to stop, and returns when that was.
func (m *Member) BeginStop() time.Time {
	begin := m.group.Note("%s stops", m.Name)
	m.stop()
	return begin
}

// AwaitStop waits until a member that was asked to stop has, and returns when that was. The test fails if Run returns an error.
func (m *Member) AwaitStop() time.Time {
	g := m.group
	g.t.Helper()
	m.halt()
	if m.err != nil {
		g.Errorf("Run of %s returned an error: %v", m.Name, m.err)
	}
	e, _ := g.Last(Stopped, By(m.Name))
	return e.At
}

func (m *life) halt() {
	m.stop()
	select {
	case <-m.done:
	case <-time.After(patience):
		m.group.Errorf("Run of %s did not return within %v of its stop", m.Name, patience)
	}
}

// Done is closed when Run has returned; [Member.Err] then tells with what.
func (m *Member) Done() <-chan struct{} { return m.done }

// Err is what Run returned, nil as long as it has not.
func (m *Member) Err() error {
	select {
	case <-m.done:
		return m.err
	default:
		return nil
	}
}

// Owns returns the partitions that the member has claimed now.
func (m *Member) Owns() (owned []int32) {
	for _, c := range m.Status().Claims {
		owned = append(owned, c.Partition)
	}
	return owned
}
