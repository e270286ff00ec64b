package handlertest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
	"github.com/IBM/sarama/mocks"

	"github.com/evenkeel-go/evenkeel/handler/handlertest"
)

// expect makes a mock partition consumer that has been consumed, as mocks wants it.
func expect(t *testing.T, cfg *sarama.Config, offset int64) (*mocks.Consumer, *mocks.PartitionConsumer) {
	t.Helper()
	c := mocks.NewConsumer(t, cfg)
	pc := c.ExpectConsumePartition(topic, 0, offset)
	if _, err := c.ConsumePartition(topic, 0, offset); err != nil {
		t.Fatal(err)
	}
	return c, pc
}

func TestMessagesOfAMockAreHandled(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		c, pc := expect(t, nil, 100)
		pc.ExpectMessagesDrainedOnClose()
		pc.YieldMessage(&sarama.ConsumerMessage{Value: []byte("before")})
		run := handlertest.New(t, sleep(time.Hour), handlertest.Options{})
		run.Consume(topic, 0, pc)
		pc.YieldMessage(&sarama.ConsumerMessage{Value: []byte("a")})
		pc.YieldMessage(&sarama.ConsumerMessage{Value: []byte("b")})
		run.WaitIdle()
		run.WantStarted(topic, 0, 100, 101, 102)
		run.WantCommitted(topic, 0, 103)
		run.Revoke(how)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What the mock still holds at the revocation is thrown away, and nothing of it starts.
func TestBufferedMessagesOfAMockDoNotStartAfterRevocation(t *testing.T) {
	eachWay(t, func(t *testing.T, how handlertest.Revocation) {
		c, pc := expect(t, nil, sarama.OffsetOldest)
		pc.ExpectMessagesDrainedOnClose().ExpectErrorsDrainedOnClose()
		run := handlertest.New(t, sleep(time.Hour), handlertest.Options{})
		run.Consume(topic, 0, pc)
		for range 20 {
			pc.YieldMessage(&sarama.ConsumerMessage{})
		}
		pc.YieldError(errors.New("leader not available"))
		run.WantStarted(topic, 0, 0)
		run.Revoke(how)
		run.WantStarted(topic, 0, 0)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A mock with a small buffer holds its lock while it waits: pausing must not need it.
func TestSmallMockBufferDoesNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := sarama.NewConfig()
		cfg.ChannelBufferSize = 0
		_, pc := expect(t, cfg, 0)
		run := handlertest.New(t, sleep(time.Minute), handlertest.Options{})
		run.Consume(topic, 0, pc)
		for range 30 {
			pc.YieldMessage(&sarama.ConsumerMessage{})
		}
		run.WaitIdle()
		run.WantCommitted(topic, 0, 30)
	})
}

// A stream that ends by itself ends the session, as in sarama; the next delivery begins another.
func TestClosedMockEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, pc := expect(t, nil, 0)
		ends := make(endings, 10)
		run := handlertest.New(t, sleep(time.Minute), handlertest.Options{Hooks: []any{ends}})
		run.Consume(topic, 0, pc)
		pc.YieldMessage(&sarama.ConsumerMessage{})
		run.Deliver(message(2, "b"))
		run.WaitIdle()
		pc.AsyncClose()
		time.Sleep(time.Second)
		if n := len(ends); n != 2 {
			t.Errorf("%d claims ended, want both", n)
		}
		run.Deliver(message(1, "a"))
		run.WantCommitted(topic, 1, 1)
		run.WantCommitted(topic, 0, 1)
	})
}

func TestWaitIdleOfASilentMockReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, pc := expect(t, nil, 7)
		run := handlertest.New(t, sleep(time.Minute), handlertest.Options{})
		run.Consume(topic, 0, pc)
		run.WaitIdle()
		run.WantCommitted(topic, 0, -1)
	})
}
