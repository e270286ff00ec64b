package fakegroup

import (
	"errors"
	"time"

	"github.com/IBM/sarama"
)

// turn is how often sarama's fetch loop looks round while it has nothing to ask for (consumer.go, partitionConsumersBatchTimeout).
const turn = 100 * time.Millisecond

// feed fetches and delivers until the claim is closed or fails. Messages closes first, Errors second (consumer.go:810-812).
func (c *claim) feed() {
	defer c.group.abandon(c)
	defer close(c.errs)
	defer close(c.messages)
	for {
		batch, err := c.fetch()
		switch {
		case isClosed(c.dying):
			return
		case errors.Is(err, sarama.ErrUnknownTopicOrPartition): // redispatch (consumer.go:1276-1286)
			c.sendError(err)
			c.after(c.group.cfg.Consumer.Retry.Backoff)
		case err != nil: // out of range, or a test's wish: the only way for a claim to close itself (consumer.go:1268-1275)
			c.sendError(err)
			return
		case !c.deliver(batch):
			return
		}
	}
}

// deliver hands a batch over. Once the claim is closed what is left of the batch is dropped, and what is buffered stays. A claim that
// nobody read from for two Consumer.MaxProcessingTime has left the fetch loop, which takes a turn to notice the close (consumer.go:781-800).
func (c *claim) deliver(batch []*sarama.ConsumerMessage) bool {
	for _, m := range batch {
		began := time.Now()
		select {
		case <-c.dying:
			if time.Since(began) > 2*c.group.cfg.Consumer.MaxProcessingTime {
				time.Sleep(turn)
			}
			return false
		case c.messages <- m:
		}
	}
	return true
}

// fetch waits for records. A long poll under way is not cut short by AsyncClose: Messages closes up to Consumer.MaxWaitTime later.
func (c *claim) fetch() ([]*sarama.ConsumerMessage, error) {
	began := time.Now()
	for {
		logged, gated, linked := c.log.changed.wait(), c.gate.wait(), c.group.network.changed.wait()
		batch, err := c.poll()
		if len(batch) > 0 || err != nil {
			return batch, err
		}
		select {
		case <-logged:
		case <-gated:
		case <-linked:
		case <-c.dying:
			c.finishPoll(began)
			return nil, nil
		}
	}
}

// finishPoll sleeps to the end of the poll that runs now. Polls follow each other, so the time of the first is enough to know.
func (c *claim) finishPoll(began time.Time) {
	length := c.group.cfg.Consumer.MaxWaitTime
	if c.paused.Load() {
		length = turn
	}
	time.Sleep(length - time.Since(began)%length)
}

// poll reads what there is now.
func (c *claim) poll() ([]*sarama.ConsumerMessage, error) {
	if err := c.failure.Load(); err != nil {
		return nil, *err
	}
	if c.paused.Load() || !c.group.network.up() {
		return nil, nil
	}
	if c.group.cluster.log(c.tp) != c.log {
		return nil, sarama.ErrUnknownTopicOrPartition
	}
	lim := limit{bytes: int(c.group.cfg.Consumer.Fetch.Default), records: c.group.cluster.settings.MaxFetchRecords}
	batch, next, err := c.log.read(c.position, lim)
	if len(batch) > 0 {
		c.position = batch[len(batch)-1].Offset + 1
		c.mark.Store(next)
	}
	return batch, err
}
