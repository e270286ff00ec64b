package config_test

import (
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

// onlyCooperative is a strategy of a user that cannot run eager.
type onlyCooperative struct{ sarama.BalanceStrategy }

func (onlyCooperative) Name() string { return "mine" }

func (onlyCooperative) SupportedProtocols() []sarama.RebalanceProtocol {
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolCooperative}
}

func offering(list ...sarama.BalanceStrategy) *sarama.Config {
	c := sarama.NewConfig()
	c.Consumer.Group.Rebalance.GroupStrategies = list
	return c
}

func offered(cfg *sarama.Config) []string {
	var names []string
	for _, s := range cfg.Consumer.Group.Rebalance.GroupStrategies {
		names = append(names, s.Name())
	}
	return names
}

func TestDefaultStrategyFollowsTheProtocol(t *testing.T) {
	for _, c := range []struct {
		eager bool
		want  string
	}{{false, "cooperative-sticky"}, {true, "sticky"}} {
		got := offered(mustApply(t, config.Input{Expected: sec, Eager: c.eager}, nil))
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("eager %t offers %v, want %s", c.eager, got, c.want)
		}
	}
}

func TestEachApplyHasAStrategyOfItsOwn(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: sec})
	a, errA := p.Apply(nil)
	b, errB := p.Apply(nil)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.Consumer.Group.Rebalance.GroupStrategies[0] == b.Consumer.Group.Rebalance.GroupStrategies[0] {
		t.Error("two groups share the state of one strategy")
	}
}

func TestChosenStrategiesStayWhenTheyFit(t *testing.T) {
	coop, sticky, mine := sarama.NewBalanceStrategyCooperativeSticky(), sarama.NewBalanceStrategySticky(), onlyCooperative{sarama.NewBalanceStrategyRange()}
	single := sarama.NewConfig()
	single.Consumer.Group.Rebalance.Strategy = sticky
	for name, c := range map[string]struct {
		eager bool
		base  *sarama.Config
		want  []sarama.BalanceStrategy
	}{
		"cooperative-sticky":      {false, offering(coop), []sarama.BalanceStrategy{coop}},
		"mine and theirs":         {false, offering(mine, coop), []sarama.BalanceStrategy{mine, coop}},
		"first half of migration": {true, offering(coop, sticky), []sarama.BalanceStrategy{coop, sticky}},
		"round robin":             {true, offering(sarama.NewBalanceStrategyRoundRobin()), nil},
		"the deprecated field":    {true, single, []sarama.BalanceStrategy{sticky}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := mustApply(t, config.Input{Expected: sec, Eager: c.eager}, c.base)
			got := cfg.Consumer.Group.Rebalance.GroupStrategies
			if c.want == nil {
				c.want = c.base.Consumer.Group.Rebalance.GroupStrategies
			}
			for i, s := range c.want {
				if len(got) != len(c.want) || got[i] != s {
					t.Fatalf("got %v, want %v", offered(cfg), offered(offering(c.want...)))
				}
			}
			if cfg.Consumer.Group.Rebalance.Strategy != nil {
				t.Error("the deprecated field is still set and would override the list")
			}
		})
	}
}

// B32: a config that mixes strategies with no common rebalance style is refused, and so is one of the plan's other style.
func TestB32StrategiesThatDoNotFitAreRefused(t *testing.T) {
	coop, rangeOnly := sarama.NewBalanceStrategyCooperativeSticky(), sarama.NewBalanceStrategyRange()
	single := sarama.NewConfig()
	single.Consumer.Group.Rebalance.Strategy = rangeOnly
	for name, c := range map[string]struct {
		eager bool
		base  *sarama.Config
		texts []string
	}{
		"nothing in common":    {false, offering(onlyCooperative{rangeOnly}, rangeOnly), []string{"[mine range]", "no rebalance protocol"}},
		"eager for a plan":     {false, offering(sarama.NewBalanceStrategySticky()), []string{"[sticky]", "eager", "cooperative", "Input.Eager"}},
		"mixed for a plan":     {false, offering(coop, rangeOnly), []string{"[cooperative-sticky range]", "Input.Eager true"}},
		"deprecated field":     {false, single, []string{"[range]", "eager"}},
		"cooperative for none": {true, offering(coop), []string{"[cooperative-sticky]", "Input.Eager false"}},
		"nil":                  {false, offering(coop, nil), []string{"[cooperative-sticky nil]"}},
		"nil alone":            {false, offering(nil), []string{"[nil]"}},
		"empty":                {false, offering(), []string{"[]"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mustPlan(t, config.Input{Expected: sec, Eager: c.eager}).Apply(c.base)
			wantFault(t, err, config.ErrBase, "Consumer.Group.Rebalance.GroupStrategies", c.texts...)
		})
	}
}
