package main

import (
	"context"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// cutOff is a member of each kind, each inside a task and behind a link of its own that can be cut: what is sent is swallowed, what
// is connected stays connected.
type cutOff struct {
	lab         *lab
	links       []*kafkatest.Link
	own         *member
	plain       *plain
	plainEnd    <-chan struct{} // the end of sarama's session
	cancelled   chan time.Time  // our tasks
	releaseTask chan struct{}
}

func newCutOff(l *lab, in config.Input) (*cutOff, error) {
	node, err := l.kafka()
	if err != nil {
		return nil, err
	}
	c := &cutOff{lab: l, links: []*kafkatest.Link{node.Link(ours), node.Link(stock)}, cancelled: times(), releaseTask: make(chan struct{})}
	if err := c.startOwn(in); err != nil {
		return nil, err
	}
	return c, c.startPlain()
}

func (c *cutOff) startOwn(in config.Input) error {
	topic, _, err := c.lab.topic("cut", 2, 1)
	if err != nil {
		return err
	}
	starts := times()
	c.own, err = c.lab.start(c.links[0], topic, in, func(ctx context.Context, _ *handler.Task) error {
		starts <- time.Now()
		<-ctx.Done()
		c.cancelled <- time.Now()
		return context.Cause(ctx)
	})
	if err == nil {
		_, err = receive(c.lab, starts)
	}
	return err
}

func (c *cutOff) startPlain() error {
	topic, _, err := c.lab.topic("cut", 2, 1)
	if err != nil {
		return err
	}
	sessions := make(chan sarama.ConsumerGroupSession, 1)
	c.plain, err = c.lab.plain(c.links[1], topic, nil, &blocking{session: sessions, handle: func(*sarama.ConsumerMessage) {}})
	if err != nil {
		return err
	}
	s, err := receive(c.lab, sessions)
	if err == nil {
		c.plainEnd = s.Context().Done()
	}
	return err
}

func (c *cutOff) cut() {
	for _, l := range c.links {
		l.Cut()
	}
}

func (c *cutOff) restore() {
	for _, l := range c.links {
		_ = l.Restore()
	}
}

// leaseEnd cuts both off and waits for the cancellation of our tasks, and for the end of sarama's session.
func leaseEnd(l *lab) ([]figure, error) {
	in := config.Input{Expected: time.Minute}
	c, err := newCutOff(l, in)
	if err != nil {
		return nil, err
	}
	plan, err := in.Plan()
	if err != nil {
		return nil, err
	}
	c.cut()
	cut := time.Now()
	at, err := receive(l, c.cancelled)
	if err != nil {
		return nil, err
	}
	own := at.Sub(cut)
	base, err := c.waitPlain(cut)
	c.restore()
	c.own.stop()
	go c.plain.stop() // ends with sarama's timeouts
	return []figure{
		{name: "lease", value: own.Seconds(), unit: "s", baseline: "sarama", baselineValue: base.Seconds()},
		{name: "lease_bound", value: own.Seconds(), unit: "s", baseline: "Plan.Lease", baselineValue: plan.Lease.Seconds()},
	}, err
}

func (c *cutOff) waitPlain(cut time.Time) (time.Duration, error) {
	select {
	case <-c.plainEnd:
		return time.Since(cut), nil
	case <-time.After(10 * time.Minute):
		return 0, errLate
	case <-c.lab.ctx.Done():
		return 0, context.Cause(c.lab.ctx)
	}
}
