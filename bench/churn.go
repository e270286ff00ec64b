package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

const (
	churnMessages  = 250_000
	churnPause     = 2 * time.Second       // between two changes
	churnMembers   = 4                     // besides the one that stays
	churnTask      = 20 * time.Millisecond // with churnSlots in each of up to five members: about half a minute
	churnSlots     = 100
	churnPublished = 369
	churnLimit     = 5 * time.Minute // after which messages are lost
)

var churnFill = fill{partitions: 80, messages: churnMessages, keys: 10_000, bytes: 100}

// starts counts how often each message was started, and how many were done.
type starts struct {
	mu    sync.Mutex
	seen  map[[2]int64]*fate
	again int
	done  int
}

// fate is what became of a message.
type fate struct {
	starts int
	done   bool
}

func (s *starts) add(t *handler.Task) *fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := [2]int64{int64(t.Partition), t.Offset}
	f := s.seen[at]
	if f == nil {
		f = &fate{}
		s.seen[at] = f
	}
	if f.starts++; f.starts > 1 {
		s.again++
	}
	return f
}

func (s *starts) end(f *fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.done {
		f.done = true
		s.done++
	}
}

func (s *starts) progress() (done, again int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done, s.again
}

// churn lets members come and go while a topic is worked on, and counts the starts beyond the first of each message.
func churn(l *lab) (list []figure, err error) {
	for _, protocol := range []string{"cooperative", "eager"} {
		c := &churning{lab: l, group: l.name("churn"), in: config.Input{Expected: churnTask, Eager: protocol == "eager"}}
		if err := c.run(); err != nil {
			return list, err
		}
		_, again := c.starts.progress()
		list = append(list,
			figure{name: "churn_repeats_" + protocol, value: float64(again), unit: "starts", baseline: "published_cooperative", baselineValue: churnPublished},
			figure{name: "churn_changes_" + protocol, value: float64(c.changes), unit: "joins_and_leaves", baseline: "none"})
	}
	return list, nil
}

type churning struct {
	lab     *lab
	group   string
	in      config.Input
	topic   *filled
	starts  starts
	changes int
	members []*member
}

func (c *churning) run() (err error) {
	if c.topic, err = c.lab.filled(churnFill); err != nil {
		return err
	}
	c.starts.seen = make(map[[2]int64]*fate, churnMessages)
	defer c.stop()
	for began := time.Now(); ; err = c.lab.sleep(churnPause) {
		if err == nil {
			err = c.change()
		}
		done, _ := c.starts.progress()
		switch {
		case err != nil, done == churnMessages:
			return err
		case time.Since(began) > churnLimit:
			return fmt.Errorf("%d of %d messages are not done after %v", churnMessages-done, churnMessages, churnLimit)
		}
	}
}

// change lets one member more join, or the oldest of those that come and go leave in order.
func (c *churning) change() error {
	c.changes++
	if len(c.members) > churnMembers {
		oldest := c.members[1]
		c.members = append(c.members[:1], c.members[2:]...)
		oldest.stop()
		return oldest.err
	}
	plan, err := c.in.Plan()
	if err != nil {
		return err
	}
	m, err := c.lab.run(consumer.Config{
		Brokers: c.topic.broker.Addrs(), Sarama: c.topic.broker.Config(), Group: c.group, Topics: []string{c.topic.name}, Plan: plan,
		Order: handler.ByKey, Slots: churnSlots, Logger: slog.New(slog.DiscardHandler),
	}, c.handle)
	if err == nil {
		c.members = append(c.members, m)
	}
	return err
}

func (c *churning) handle(ctx context.Context, t *handler.Task) error {
	f := c.starts.add(t)
	time.Sleep(churnTask)
	if ctx.Err() == nil {
		c.starts.end(f)
	}
	return nil
}

func (c *churning) stop() {
	for _, m := range c.members {
		m.stop()
	}
}
