package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

const (
	engineRounds  = 7
	engineEnds    = 64_000
	fewBehind     = 1_000
	manyBehind    = 64_000
	fewCommitted  = 1_000
	manyCommitted = 1_000_000
	engineCommits = 200
)

// engineCost is [offsetCost] with all that the engine does beside: claim, runners, settlements and commits. It counts processor time.
func engineCost(l *lab) ([]figure, error) {
	var few, many, young, old []float64
	for range l.roundsOr(engineRounds) {
		a, err := engineEnd(l.ctx, fewBehind)
		if err != nil {
			return nil, err
		}
		b, err := engineEnd(l.ctx, manyBehind)
		if err != nil {
			return nil, err
		}
		first, last, err := engineCommit(l.ctx)
		if err != nil {
			return nil, err
		}
		few, many, young, old = append(few, a), append(many, b), append(young, first), append(old, last)
	}
	return []figure{
		versus(figure{name: "engine_cost_end", unit: "ns", baseline: "of_1000_pending"}, many, few),
		versus(figure{name: "engine_cost_commit", unit: "ns", baseline: "after_1000_committed"}, old, young),
	}, nil
}

// engineEnd returns the nanoseconds of a message, in windows in which the first one ends last.
func engineEnd(ctx context.Context, window int64) (float64, error) {
	gates := make([]chan struct{}, engineEnds/window)
	for i := range gates {
		gates[i] = make(chan struct{})
	}
	m, err := newMemory(ctx, time.Millisecond, func(_ context.Context, t *handler.Task) error {
		switch gate := gates[t.Offset/window]; t.Offset % window {
		case 0:
			<-gate
		case window - 1:
			close(gate)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer m.close()
	return m.cost(engineEnds, engineEnds)
}

// engineCommit returns the nanoseconds of a message that is committed by itself, after few others were and after many.
func engineCommit(ctx context.Context) (young, old float64, err error) {
	m, err := newMemory(ctx, time.Minute, func(context.Context, *handler.Task) error { return nil })
	if err != nil {
		return 0, 0, err
	}
	defer m.close()
	after := func(committed int64) (float64, error) {
		n := committed - m.sent
		if _, err := m.cost(n, n); err != nil {
			return 0, err
		}
		return m.cost(engineCommits, 1)
	}
	young, err = after(fewCommitted)
	if err != nil {
		return 0, 0, err
	}
	old, err = after(manyCommitted)
	return young, old, err
}

// inMemory is a partition and a session without a broker, with the engine over them, without order.
type inMemory struct {
	memorySession
	claim memoryClaim
	stop  context.CancelFunc
	done  chan struct{}
	sent  int64
}

const memoryTopic = "memory"

func newMemory(ctx context.Context, task time.Duration, work handler.Func) (*inMemory, error) {
	plan, err := config.Input{Expected: task, Grace: config.NoGrace, StopGrace: config.NoGrace}.Plan()
	if err != nil {
		return nil, err
	}
	engine, err := handler.New(work, handler.Options{Plan: plan, Order: handler.None, Slots: 4, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	m := &inMemory{done: make(chan struct{}), claim: memoryClaim{messages: make(chan *sarama.ConsumerMessage, 256)}}
	m.told = make(chan struct{}, 1)
	m.ctx, m.stop = context.WithCancel(ctx)
	go func() { // ends with stop
		defer close(m.done)
		_ = engine.ConsumeClaim(m, &m.claim) // always nil
		_ = engine.Wait(context.Background())
	}()
	return m, nil
}

func (m *inMemory) close() {
	m.stop()
	<-m.done
}

// cost sends n messages, as many at once as batch says, which are marked before the next ones come. It returns the nanoseconds of processor
// time that each has taken.
func (m *inMemory) cost(n, batch int64) (float64, error) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		return 0, err
	}
	limit := time.After(patience)
	for end := m.sent + n; m.sent < end; {
		for range batch {
			m.claim.messages <- &sarama.ConsumerMessage{Topic: memoryTopic, Offset: m.sent}
			m.sent++
		}
		for m.marked.Load() < m.sent {
			select {
			case <-m.told:
			case <-limit:
				return 0, errNotMarked
			}
		}
	}
	after, err := cpuTime(os.Getpid())
	return float64(after-before) / float64(n), err
}

var errNotMarked = errors.New("messages in memory were not marked in time")

// memorySession remembers the latest mark.
type memorySession struct {
	ctx    context.Context //nolint:containedctx // what it is
	marked atomic.Int64
	told   chan struct{} // 1: marked has changed
}

var _ sarama.ConsumerGroupSession = (*memorySession)(nil)

func (s *memorySession) Claims() map[string][]int32 { return map[string][]int32{memoryTopic: {0}} }
func (s *memorySession) MemberID() string           { return "a" }
func (s *memorySession) GenerationID() int32        { return 1 }
func (s *memorySession) Context() context.Context   { return s.ctx }
func (s *memorySession) Commit()                    {}

func (s *memorySession) MarkOffset(_ string, _ int32, offset int64, _ string) {
	s.marked.Store(offset)
	select {
	case s.told <- struct{}{}:
	default:
	}
}

func (s *memorySession) MarkMessage(m *sarama.ConsumerMessage, text string) {
	s.MarkOffset(m.Topic, m.Partition, m.Offset+1, text)
}

func (s *memorySession) ResetOffset(string, int32, int64, string) {}

// memoryClaim is a claim that cannot be paused: whoever sends waits.
type memoryClaim struct{ messages chan *sarama.ConsumerMessage }

var _ sarama.ConsumerGroupClaim = (*memoryClaim)(nil)

func (c *memoryClaim) Topic() string                            { return memoryTopic }
func (c *memoryClaim) Partition() int32                         { return 0 }
func (c *memoryClaim) InitialOffset() int64                     { return 0 }
func (c *memoryClaim) HighWaterMarkOffset() int64               { return 0 }
func (c *memoryClaim) Messages() <-chan *sarama.ConsumerMessage { return c.messages }
