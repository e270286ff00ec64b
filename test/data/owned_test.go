package data_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// lent is what the test owns and lends to a member: a client, or a group.
type lent struct {
	client sarama.Client
	group  *kit.Lent
}

// lendGroup makes a member run over a group of the test, which leaves when the test closes it.
func lendGroup(_ *testing.T, g *kit.Group) (l *lent, change func(*consumer.Config)) {
	group, change := g.Lend()
	return &lent{group: group}, change
}

// lendClient makes a member run over a client of the test.
func lendClient(t *testing.T, g *kit.Group) (l *lent, change func(*consumer.Config)) {
	t.Helper()
	client, err := sarama.NewClient(g.Broker.Addrs(), g.Broker.Config())
	if err != nil {
		t.Fatal(err)
	}
	l = &lent{client: client}
	t.Cleanup(l.close)
	return l, func(c *consumer.Config) {
		c.Brokers, c.Sarama, c.Client = nil, nil, client
	}
}

func (l *lent) close() {
	if l.group != nil {
		l.group.Leave()
	}
	if l.client != nil && !l.client.Closed() {
		_ = l.client.Close()
	}
}

// lenders are the ways in which a member runs over what is not its own.
var lenders = map[string]func(*testing.T, *kit.Group) (*lent, func(*consumer.Config)){"client": lendClient, "group": lendGroup}

// Two members share four partitions in long tasks, one of them over what the user owns; that one stops, and leaves what it was lent
// open and working.
func TestMembersRunOverWhatTheUserOwns(t *testing.T) {
	t.Parallel()
	for name, lend := range lenders {
		t.Run(name, func(t *testing.T) {
			kit.Each(t, func(t *testing.T, s kit.Setting) {
				g := s.Group(t, 4)
				g.Produce(2)
				gate := kit.NewGate()
				l, change := lend(t, g)
				a := g.Start("a", gate.Hold, change)
				g.UntilSeen(4, kit.Started)
				b := g.Start("b", gate.Hold)
				g.Until("each works on two", func() bool { return a.Status().Running == 2 && b.Status().Running == 2 })
				gate.Open()
				for p := range g.Partitions {
					g.Until("all is committed", func() bool { return g.Committed(p) == 2 })
				}
				g.WantAtMost(0, kit.Troubled)
				b.Stop()
				g.Until("a owns all", func() bool { return len(a.Owns()) == 4 })
				a.Stop()
				wantOpen(t, g, l)
			}, everywhere()...)
		})
	}
}

// wantOpen wants a client to answer, and a group to join again, as if nothing had used them.
func wantOpen(t *testing.T, g *kit.Group, l *lent) {
	t.Helper()
	if l.client != nil {
		if err := l.client.RefreshMetadata(g.Topic); err != nil {
			g.Errorf("the client was not left open: %v", err)
		}
		g.Until("the member has left", func() bool { d, err := g.Broker.Group(g.Name); return err == nil && len(d.Members) == 0 })
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	again := &visitor{came: cancel}
	if err := l.group.Group.Consume(ctx, []string{g.Topic}, again); err != nil || !again.joined.Load() {
		g.Errorf("the group was not left open: %v, joined: %v", err, again.joined.Load())
	}
}

// visitor joins and goes away.
type visitor struct {
	came   context.CancelFunc
	joined atomic.Bool
}

func (v *visitor) Setup(sarama.ConsumerGroupSession) error {
	v.joined.Store(true)
	v.came()
	return nil
}
func (*visitor) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (*visitor) ConsumeClaim(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error {
	return nil
}

// A static member that comes back within the session timeout finds its partitions: nobody hears of a rebalance. The in-process broker
// begins one, because a cooperative member that starts says that it owns nothing.
func TestAStaticMemberRestartsWithoutARebalance(t *testing.T) {
	onKafka(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Produce(2)
		gate := kit.NewGate()
		g.Input.CrashDetection, g.Input.StopGrace = longestWait, config.NoGrace
		g.Input.InstanceID = "a-1"
		a := g.Start("a", gate.Hold)
		g.Until("a works", func() bool { return a.Status().Running == 2 })
		g.Input.InstanceID = "b-1"
		b := g.Start("b", gate.Hold)
		g.Until("each works on one", func() bool { return a.Status().Running == 1 && b.Status().Running == 1 })
		its, generation := b.Owns(), a.Status().Generation

		b.Stop()
		back := g.Start("b again", gate.Hold)
		g.Until("b works again", func() bool { return back.Status().Running == 1 })
		gate.Open()
		g.UntilAllHandled()
		if now := back.Owns(); now[0] != its[0] {
			g.Errorf("b owns %v, and owned %v before", now, its)
		}
		if now := a.Status().Generation; now != generation || back.Status().Generation != generation {
			g.Errorf("the generation was %d, and is %d for a and %d for b", generation, now, back.Status().Generation)
		}
		wantUndisturbed(g, "a", b)
	})
}

// longestWait is a session timeout that no test outlasts.
const longestWait = 2 * time.Minute

// wantUndisturbed wants nothing to have happened to a member since another one stopped.
func wantUndisturbed(g *kit.Group, name string, other *kit.Member) {
	stopped, _ := g.Last(kit.Stopped, kit.By(other.Name))
	for _, k := range []kit.Kind{kit.Assigned, kit.Ended, kit.Cancelled, kit.Released} {
		g.WantAtMost(0, k, kit.By(name), kit.After(stopped.At))
	}
}

// serial finds calls that overlap.
type serial struct {
	running, most atomic.Int32
	calls         atomic.Int32
}

func (s *serial) Handle(name, topic string, _ int32, _ int64, _, value string) error {
	s.most.Store(max(s.most.Load(), s.running.Add(1)))
	defer s.running.Add(-1)
	_ = lasting(context.Background(), 5*time.Millisecond)
	if name == "worker-1" && topic != "" && value != "" {
		s.calls.Add(1)
	}
	return nil
}

var _ handler.LegacyHandler = (*serial)(nil)

// One slot makes an old handler the strictly serial consumer that it was, on however many partitions and topics.
func TestALegacyHandlerWithOneSlotIsSerial(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 4)
		g.Produce(25)
		old := &serial{}
		h := handler.Legacy("worker-1", old)
		m := g.Start("a", h.Handle, func(c *consumer.Config) { c.Slots = 1 })
		g.UntilAllHandled()
		m.Stop()
		if old.most.Load() != 1 || old.calls.Load() != 100 {
			g.Errorf("%d calls with name, topic and value, %d at once: want 100 and 1", old.calls.Load(), old.most.Load())
		}
	}, everywhere()...)
}
