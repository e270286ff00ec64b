package fakegroup

import (
	"fmt"

	"github.com/IBM/sarama"
)

// strategies returns the configured balance strategies: the deprecated Strategy overrides the list (config.go:624).
func strategies(cfg *sarama.Config) []sarama.BalanceStrategy {
	if s := cfg.Consumer.Group.Rebalance.Strategy; s != nil {
		return []sarama.BalanceStrategy{s}
	}
	return cfg.Consumer.Group.Rebalance.GroupStrategies
}

// selectProtocol is cooperative if every strategy supports it, else eager if every one does (rebalance_protocol.go:50-84).
func selectProtocol(all []sarama.BalanceStrategy) (sarama.RebalanceProtocol, error) {
	support := make(map[sarama.RebalanceProtocol]int)
	for _, s := range all {
		for _, p := range supported(s) {
			support[p]++
		}
	}
	switch {
	case len(all) == 0:
		return 0, sarama.ConfigurationError("no Consumer.Group.Rebalance balance strategies configured")
	case support[sarama.RebalanceProtocolCooperative] == len(all):
		return sarama.RebalanceProtocolCooperative, nil
	case support[sarama.RebalanceProtocolEager] == len(all):
		return sarama.RebalanceProtocolEager, nil
	}
	return 0, sarama.ConfigurationError("Consumer.Group.Rebalance.GroupStrategies do not have a commonly supported rebalance protocol")
}

func supported(s sarama.BalanceStrategy) []sarama.RebalanceProtocol {
	if p, ok := s.(sarama.RebalanceProtocolBalanceStrategy); ok {
		return p.SupportedProtocols()
	}
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolEager}
}

// strategy returns the strategy that the group chose.
func strategy(cfg *sarama.Config, name string) (sarama.BalanceStrategy, error) {
	if s := cfg.Consumer.Group.Rebalance.Strategy; s != nil {
		return s, nil
	}
	for _, s := range strategies(cfg) {
		if s.Name() == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("unable to find selected strategy: %s", name)
}
