package consumer

import (
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// offers are the strategies that the user has chosen, or our own.
func (c *Consumer) offers(tasks *handler.GroupHandler, applied []sarama.BalanceStrategy) []sarama.BalanceStrategy {
	if config.Chosen(c.cfg.base()) != nil {
		return applied
	}
	return append([]sarama.BalanceStrategy{tasks.WorkPreserving()}, c.cfg.OfferAlso...)
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
	var faults []error
	for i, s := range c.OfferAlso {
		faults = append(faults, c.checkOffer(fmt.Sprintf("OfferAlso[%d]", i), s))
	}
	return errors.Join(faults...)
}

func (c Config) checkOffer(field string, s sarama.BalanceStrategy) error {
	eager := c.Plan.Input.Eager
	switch {
	case s == nil:
		return fault(field, "nil", "remove it")
	case eager && !config.Supports(s, sarama.RebalanceProtocolEager):
		return fault(field, s.Name(), "it rebalances cooperatively alone: set config.Input.Eager to false, or offer another one")
	case !eager && !config.Supports(s, sarama.RebalanceProtocolCooperative):
		return fault(field, s.Name(), "it rebalances eagerly: set config.Input.Eager to true while it is offered")
	}
	return nil
}
