package main

import (
	"errors"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

const newcomerRounds = 3

func newcomerEager(l *lab) ([]figure, error) { return newcomers(l, "newcomer_eager", true) }
func newcomerCooperative(l *lab) ([]figure, error) {
	return newcomers(l, "newcomer_cooperative", false)
}

func newcomers(l *lab, name string, eager bool) (list []figure, err error) {
	baseline := "blocking_handler_60s"
	base, err := blockedNewcomer(l, eager)
	switch {
	case errors.Is(err, errLate): // cooperative: the first member gives up its session before it gives up a partition
		base, baseline = patience, "blocking_handler_60s_still_waiting"
	case err != nil:
		return nil, err
	}
	for suffix, task := range map[string]time.Duration{"": time.Minute, "_6h": 6 * time.Hour} {
		var took []float64
		for range newcomerRounds {
			one, err := newcomer(l, config.Input{Expected: task, Eager: eager, HoldLimit: config.NoHold}, task)
			if err != nil {
				return list, err
			}
			took = append(took, one.Seconds())
		}
		list = append(list, versus(figure{name: name + suffix, unit: "s", baseline: baseline}, took, []float64{base.Seconds()}))
	}
	return list, nil
}

// newcomer lets a second member come while the first one is inside four long tasks.
func newcomer(l *lab, in config.Input, task time.Duration) (time.Duration, error) {
	topic, b, err := l.topic("newcomer", 4, 2)
	if err != nil {
		return 0, err
	}
	first, second := times(), times()
	one, err := l.start(b, topic, in, obedient(first, task))
	if err != nil {
		return 0, err
	}
	defer one.stop()
	for range 4 {
		if _, err := receive(l, first); err != nil {
			return 0, err
		}
	}
	two, err := l.start(b, topic, in, obedient(second, task))
	if err != nil {
		return 0, err
	}
	defer two.stop()
	at, err := receive(l, second)
	return at.Sub(two.began), err
}

// blockedNewcomer is the same with two members that work in their claim loops for 60 s, and sarama's defaults.
func blockedNewcomer(l *lab, eager bool) (time.Duration, error) {
	topic, b, err := l.topic("blocked", 4, 2)
	if err != nil {
		return 0, err
	}
	strategy := func(c *sarama.Config) {
		c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
		if eager {
			c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky()}
		}
	}
	end := make(chan struct{})
	defer close(end)
	work := func(starts chan<- time.Time) *blocking {
		return &blocking{handle: func(*sarama.ConsumerMessage) {
			starts <- time.Now()
			select {
			case <-time.After(time.Minute):
			case <-end:
			}
		}}
	}
	first, second := times(), times()
	one, err := l.plain(b, topic, strategy, work(first))
	if err != nil {
		return 0, err
	}
	defer func() { go one.stop() }()
	for range 4 {
		if _, err := receive(l, first); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	two, err := l.plain(b, topic, strategy, work(second))
	if err != nil {
		return 0, err
	}
	defer func() { go two.stop() }()
	at, err := receive(l, second)
	return at.Sub(began), err
}
