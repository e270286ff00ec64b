package main

import (
	"context"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

const stopRounds = 5

func stopIdle(l *lab) ([]figure, error) {
	var own, base []float64
	for range stopRounds {
		one, err := stopIdleOnce(l)
		if err != nil {
			return nil, err
		}
		two, err := stopPlainOnce(l)
		if err != nil {
			return nil, err
		}
		own, base = append(own, one.Seconds()), append(base, two.Seconds())
	}
	return []figure{versus(figure{name: "stop_idle", unit: "s", baseline: "sarama"}, own, base)}, nil
}

func stopIdleOnce(l *lab) (time.Duration, error) {
	topic, b, err := l.topic("stop", 4, 1)
	if err != nil {
		return 0, err
	}
	starts := times()
	m, err := l.start(b, topic, config.Input{Expected: time.Minute}, obedient(starts, 0))
	if err != nil {
		return 0, err
	}
	for range 4 {
		if _, err := receive(l, starts); err != nil {
			return 0, err
		}
	}
	return m.stop(), m.err
}

func stopPlainOnce(l *lab) (time.Duration, error) {
	topic, b, err := l.topic("stop", 4, 1)
	if err != nil {
		return 0, err
	}
	starts := times()
	p, err := l.plain(b, topic, nil, &blocking{handle: func(*sarama.ConsumerMessage) { starts <- time.Now() }})
	if err != nil {
		return 0, err
	}
	for range 4 {
		if _, err := receive(l, starts); err != nil {
			return 0, err
		}
	}
	return p.stop(), nil
}

func stopStubborn(l *lab) ([]figure, error) {
	const grace = 2 * time.Second
	topic, b, err := l.topic("stubborn", 4, 1)
	if err != nil {
		return nil, err
	}
	starts, end := times(), make(chan struct{})
	defer close(end)
	m, err := l.start(b, topic, config.Input{Expected: time.Minute, StopGrace: grace}, func(context.Context, *handler.Task) error {
		starts <- time.Now()
		<-end
		return nil
	})
	if err != nil {
		return nil, err
	}
	for range 4 {
		if _, err := receive(l, starts); err != nil {
			return nil, err
		}
	}
	took := m.stop()
	return []figure{{name: "stop_stubborn", value: took.Seconds(), unit: "s", baseline: "grace", baselineValue: grace.Seconds()}}, m.err
}

// longEnough is how long sarama's group is watched that stops without its brokers: in one of two runs it took longer.
const longEnough = 5 * time.Minute

// stopUnreachable stops a member of each kind that has been cut off for two seconds, at the same time.
func stopUnreachable(l *lab) ([]figure, error) {
	c, err := newCutOff(l, config.Input{Expected: time.Minute, StopGrace: config.NoGrace})
	if err != nil {
		return nil, err
	}
	defer c.restore()
	c.cut()
	time.Sleep(2 * time.Second)
	base := make(chan time.Duration, 1)
	go func() { base <- c.plain.stop() }() // ends with sarama's timeouts
	own := c.own.stop()
	f := figure{name: "stop_unreachable", value: own.Seconds(), unit: "s", baseline: "sarama"}
	select {
	case d := <-base:
		f.baselineValue = d.Seconds()
	case <-time.After(longEnough - own):
		f.baseline, f.baselineValue = "sarama_still_stopping", longEnough.Seconds()
	}
	return []figure{f}, c.own.err
}
