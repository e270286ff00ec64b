package group_test

import (
	"errors"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// offering sets the strategies that a member offers.
func offering(s ...sarama.BalanceStrategy) func(*consumer.Config) {
	return func(c *consumer.Config) { c.Sarama.Consumer.Group.Rebalance.GroupStrategies = s }
}

// ours is the name of the strategy that is offered by default.
const ours = "evenkeel"

// B32. X is what is offered by default, and Y is round robin.
func TestB32AMemberWithAnotherStrategyDisturbsNobody(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.StopGrace = config.NoGrace
		g.Produce(2)
		gate := kit.NewGate()
		a := g.Start("a", gate.Hold)
		g.UntilSeen(2, kit.Started, kit.By("a"))
		joins := countJoins(g)
		g.Input.Eager = true // for Y knows no other way
		begin := time.Now()

		y := g.Start("y", gate.Hold, offering(sarama.NewBalanceStrategyRoundRobin()))
		e := g.UntilSeen(1, kit.Stopped, kit.By("y"))[0]
		g.WantWithin("the newcomer gives up", begin, e.At, 10*time.Second)
		var fatal *consumer.FatalError
		if err := y.Err(); !errors.Is(err, sarama.ErrInconsistentGroupProtocol) || !errors.As(err, &fatal) {
			g.Errorf("Run returned %v, want a FatalError of INCONSISTENT_GROUP_PROTOCOL", err)
		}
		if n := joins(); n > 3 {
			g.Errorf("the newcomer tried to join %d times, want at most 3", n)
		}
		wantUndisturbed(g, a)

		both := g.Start("both", gate.Hold, func(c *consumer.Config) {
			c.OfferAlso = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRoundRobin()}
		})
		g.Until("it has its share", func() bool { return len(both.Owns()) == 1 && len(a.Owns()) == 1 })
		if d, err := g.Broker.Group(g.Name); err != nil || d.Protocol != ours {
			g.Errorf("the group uses %+v, want %s: %v", d, ours, err)
		}
		gate.Open()
		g.UntilAllHandled()
	}, everywhere()...)
}

// wantUndisturbed wants the member to be in its first generation, in its first tasks.
func wantUndisturbed(g *kit.Group, m *kit.Member) {
	g.WantAtMost(1, kit.Assigned, kit.By(m.Name))
	g.WantAtMost(0, kit.Ended, kit.By(m.Name))
	g.WantAtMost(0, kit.Cancelled, kit.By(m.Name))
	g.WantAtMost(2, kit.Started, kit.By(m.Name))
	if d, err := g.Broker.Group(g.Name); err != nil || d.State != "Stable" || len(d.Members) != 1 {
		g.Errorf("the group is %+v, want it stable with one member: %v", d, err)
	}
	if n := m.Status().Running; n != 2 {
		g.Errorf("%d tasks of %s run, want 2", n, m.Name)
	}
}

// onlyCooperative is a strategy that has no way in common with an eager one.
type onlyCooperative struct{ sarama.BalanceStrategy }

func (onlyCooperative) Name() string { return "only-cooperative" }
func (onlyCooperative) SupportedProtocols() []sarama.RebalanceProtocol {
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolCooperative}
}

// B32.
func TestB32StrategiesWithoutACommonProtocolAreRefused(t *testing.T) {
	for name, eager := range map[string]bool{"eager": true, "cooperative": false} {
		t.Run(name, func(t *testing.T) {
			plan, err := config.Input{Expected: time.Minute, Eager: eager}.Plan()
			if err != nil {
				t.Fatal(err)
			}
			cfg := consumer.Config{
				Brokers: []string{"127.0.0.1:1"}, Group: "g", Topics: []string{"t"}, Plan: plan, Sarama: sarama.NewConfig(),
			}
			offering(onlyCooperative{sarama.NewBalanceStrategySticky()}, sarama.NewBalanceStrategyRange())(&cfg)
			if _, err := consumer.New(cfg, handler.Func(brief)); !errors.Is(err, consumer.ErrConfig) {
				t.Errorf("New returned %v, want an ErrConfig", err)
			} else {
				t.Log(err)
			}
		})
	}
}
