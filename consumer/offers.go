package consumer

import (
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// offers are the strategies that the user has chosen, or our own.
func (c *Consumer) offers(tasks *handler.GroupHandler, applied *sarama.Config) []sarama.BalanceStrategy {
	group := &applied.Consumer.Group
	if config.Chosen(c.cfg.base()) != nil {
		return group.Rebalance.GroupStrategies
	}
	list := []sarama.BalanceStrategy{tasks.WorkPreserving()}
	for _, s := range c.cfg.OfferAlso {
		list = append(list, strategy.OwnData(s, group.Member.UserData))
	}
	return list
}

// checkOffers wants strategies beside our own that rebalance as the plan does: sarama refuses a list without a common protocol, and takes
// the older one where there are two.
func (c Config) checkOffers() error {
	if len(c.OfferAlso) == 0 || !c.planned() {
		return nil
	}
	if c.ConsumerGroup != nil || config.Chosen(c.base()) != nil {
		return fault("OfferAlso", "set", "leave it empty where ConsumerGroup, or the strategies of Sarama or Client, say what is offered")
	}
	faults := []error{checkStrategies("OfferAlso", c.OfferAlso, map[string]string{strategy.Name: "the member by itself"})}
	for i, s := range c.OfferAlso {
		if s != nil {
			faults = append(faults, c.checkOffer(fmt.Sprintf("OfferAlso[%d]", i), s))
		}
	}
	return errors.Join(faults...)
}

// checkListed looks at the strategies of the base.
func (c Config) checkListed() error {
	const field = ".Consumer.Group.Rebalance.GroupStrategies"
	switch base := c.base(); {
	case base == nil:
		return nil
	case c.Client != nil:
		return checkStrategies("Client.Config()"+field, base.Consumer.Group.Rebalance.GroupStrategies, map[string]string{})
	default:
		return checkStrategies("Sarama"+field, base.Consumer.Group.Rebalance.GroupStrategies, map[string]string{})
	}
}

// checkStrategies wants a strategy in each entry of a list, and each name once: a name stands for one strategy in the group, and sarama takes
// the first that has it. offered says by whom a name is offered beside the list.
func checkStrategies(list string, entries []sarama.BalanceStrategy, offered map[string]string) error {
	var faults []error
	for i, s := range entries {
		field := fmt.Sprintf("%s[%d]", list, i)
		if s == nil {
			faults = append(faults, fault(field, "nil", "remove it"))
			continue
		}
		if by := offered[s.Name()]; by != "" {
			faults = append(faults, fault(field, s.Name(), "remove it: "+by+" offers that already"))
			continue
		}
		offered[s.Name()] = field
	}
	return errors.Join(faults...)
}

func (c Config) checkOffer(field string, s sarama.BalanceStrategy) error {
	eager := c.Plan.Input.Eager
	switch {
	case eager && !config.Supports(s, sarama.RebalanceProtocolEager):
		return fault(field, s.Name(), "it rebalances cooperatively alone: set config.Input.Eager to false, or offer another one")
	case !eager && !config.Supports(s, sarama.RebalanceProtocolCooperative):
		return fault(field, s.Name(), "it rebalances eagerly: set config.Input.Eager to true while it is offered")
	}
	return nil
}
