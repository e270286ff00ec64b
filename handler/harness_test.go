package handler_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

const topic = "reports"

// session is a sarama session that records marks.
type session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu         sync.Mutex
	generation int32
	marked     map[int32]int64
	marks      []int64
	commits    int
}

func newSession() *session {
	s := &session{generation: 1, marked: map[int32]int64{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

func (s *session) Claims() map[string][]int32 { return nil }
func (s *session) MemberID() string           { return "m-1" }
func (s *session) Context() context.Context   { return s.ctx }

func (s *session) GenerationID() int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

func (s *session) MarkOffset(_ string, partition int32, offset int64, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marked[partition] = max(s.marked[partition], offset)
	s.marks = append(s.marks, offset)
}

func (s *session) ResetOffset(string, int32, int64, string) {}

func (s *session) MarkMessage(m *sarama.ConsumerMessage, meta string) {
	s.MarkOffset(m.Topic, m.Partition, m.Offset+1, meta)
}

func (s *session) Commit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits++
}

func (s *session) committed(partition int32) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marked[partition]
}

// claim is a sarama claim with a channel that the test fills and closes.
type claim struct {
	partition int32
	initial   int64
	messages  chan *sarama.ConsumerMessage
	paused    bool
	pauses    int
	mu        sync.Mutex
}

func newClaim(partition int32, n int) *claim {
	c := &claim{partition: partition, messages: make(chan *sarama.ConsumerMessage, 4096)}
	c.put(0, n)
	return c
}

func (c *claim) put(from, to int) {
	for o := from; o < to; o++ {
		c.messages <- &sarama.ConsumerMessage{Topic: topic, Partition: c.partition, Offset: int64(o), Value: []byte("v")}
	}
}

func (c *claim) Topic() string                            { return topic }
func (c *claim) Partition() int32                         { return c.partition }
func (c *claim) InitialOffset() int64                     { return c.initial }
func (c *claim) HighWaterMarkOffset() int64               { return 0 }
func (c *claim) Messages() <-chan *sarama.ConsumerMessage { return c.messages }

func (c *claim) Pause()  { c.setPaused(true) }
func (c *claim) Resume() { c.setPaused(false) }

func (c *claim) setPaused(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = on
	if on {
		c.pauses++
	}
}

func (c *claim) isPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

func plan(t testing.TB, in config.Input) *config.Plan {
	t.Helper()
	p, err := in.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// options are for long tasks without any grace, and quiet.
func options(t testing.TB) handler.Options {
	return handler.Options{
		Plan:   plan(t, config.Input{Expected: time.Minute, Grace: config.NoGrace, StopGrace: config.NoGrace}),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func newHandler(t testing.TB, o handler.Options, f handler.Func) *handler.GroupHandler {
	t.Helper()
	g, err := handler.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// consume runs ConsumeClaim and returns a channel that is closed when it has returned.
func consume(t testing.TB, g *handler.GroupHandler, s *session, c *claim) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := g.ConsumeClaim(s, c); err != nil {
			t.Errorf("ConsumeClaim: %v", err)
		}
	}()
	return done
}

// starts records offsets in the order of their starts.
type starts struct {
	mu   sync.Mutex
	list []int64
}

func (s *starts) add(o int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, o)
}

func (s *starts) all() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int64(nil), s.list...)
}
