package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/sarama"
)

const strategiesField = "Consumer.Group.Rebalance.GroupStrategies"

// style is the way a list of balance strategies rebalances. sarama's own rule decides (KIP-429): cooperative when every entry
// supports it, else eager when every entry supports that, else sarama refuses the list.
type style string

const (
	eager       style = "eager"
	cooperative style = "cooperative"
	disjoint    style = "no common protocol"
)

func (p *Plan) style() style {
	if p.Input.Eager {
		return eager
	}
	return cooperative
}

// strategies are those that sarama would use: the deprecated single field overrides the list.
func strategies(cfg *sarama.Config) []sarama.BalanceStrategy {
	if s := cfg.Consumer.Group.Rebalance.Strategy; s != nil {
		return []sarama.BalanceStrategy{s}
	}
	return cfg.Consumer.Group.Rebalance.GroupStrategies
}

// untouched says that the list is the one of sarama.NewConfig.
func untouched(cfg *sarama.Config) bool {
	r := &cfg.Consumer.Group.Rebalance
	list := r.GroupStrategies
	return r.Strategy == nil && len(list) == 1 && list[0] != nil && list[0].Name() == sarama.RangeBalanceStrategyName
}

// Chosen returns the balance strategies that somebody has set in cfg, nil where they are those of sarama.NewConfig, or where cfg is nil.
func Chosen(cfg *sarama.Config) []sarama.BalanceStrategy {
	if cfg == nil || untouched(cfg) {
		return nil
	}
	return strategies(cfg)
}

// styleOf expects a list without nil entries.
func styleOf(list []sarama.BalanceStrategy) style {
	all := func(p sarama.RebalanceProtocol) bool {
		return !slices.ContainsFunc(list, func(s sarama.BalanceStrategy) bool { return !Supports(s, p) })
	}
	switch {
	case all(sarama.RebalanceProtocolCooperative):
		return cooperative
	case all(sarama.RebalanceProtocolEager):
		return eager
	}
	return disjoint
}

// Supports says that a strategy rebalances by a protocol, as sarama sees it: one that declares nothing is eager only.
func Supports(s sarama.BalanceStrategy, p sarama.RebalanceProtocol) bool {
	declared, ok := s.(sarama.RebalanceProtocolBalanceStrategy)
	if !ok {
		return p == sarama.RebalanceProtocolEager
	}
	return slices.Contains(declared.SupportedProtocols(), p)
}

func names(list []sarama.BalanceStrategy) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = "nil"
		if s != nil {
			out[i] = s.Name()
		}
	}
	return "[" + strings.Join(out, " ") + "]"
}

// strategiesFor keeps what the user chose when it rebalances as the plan does.
func (p *Plan) strategiesFor(cfg *sarama.Config) ([]sarama.BalanceStrategy, error) {
	if untouched(cfg) {
		return p.ownStrategies(), nil
	}
	list := strategies(cfg)
	if len(list) == 0 || slices.Contains(list, nil) {
		return nil, baseFault(strategiesField, names(list), "every entry has to be a strategy", "sarama's default list, which the plan replaces")
	}
	if got := styleOf(list); got != p.style() {
		return nil, baseFault(strategiesField, names(list), p.misfit(got), p.fitting(got))
	}
	return list, nil
}

// ownStrategies are new at each call: cooperative-sticky keeps state that two groups must not share.
func (p *Plan) ownStrategies() []sarama.BalanceStrategy {
	if p.Input.Eager {
		return []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky()}
	}
	return []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
}

func (p *Plan) misfit(got style) string {
	if got == disjoint {
		return "no rebalance protocol is supported by every entry, sarama refuses such a list"
	}
	return fmt.Sprintf("the list rebalances %s, the plan is for %s (Input.Eager is %t)", got, p.style(), p.Input.Eager)
}

func (p *Plan) fitting(got style) string {
	switch {
	case got == disjoint:
		return "strategies of one protocol"
	case p.Input.Eager:
		return "Input.Eager false, or an eager strategy such as sticky"
	}
	return "Input.Eager true (also while a group migrates), or cooperative-sticky alone"
}
