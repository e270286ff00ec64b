package handler_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// session is a sarama session that records marks.
type session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	id string

	mu         sync.Mutex
	generation int32
	text       string // of the latest mark
	marked     map[int32]int64
	marks      []int64 // in the order of MarkOffset
	resets     []int64
	commits    int
	onMark     func() // called by MarkOffset, on the claim's goroutine
	onCommit   func()
}

func newSession() *session { return newSessionIn(context.Background()) }

func newSessionIn(ctx context.Context) *session {
	s := &session{id: "m-1", generation: 1, marked: map[int32]int64{}}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

func (s *session) Claims() map[string][]int32 { return nil }
func (s *session) MemberID() string           { return s.id }
func (s *session) Context() context.Context   { return s.ctx }

func (s *session) GenerationID() int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// next moves the session to the next generation.
func (s *session) next() int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	return s.generation
}

func (s *session) MarkOffset(_ string, partition int32, offset int64, text string) {
	s.mu.Lock()
	s.text = text
	s.marked[partition] = max(s.marked[partition], offset)
	s.marks = append(s.marks, offset)
	call := s.onMark
	s.mu.Unlock()
	if call != nil {
		call()
	}
}

// slowMarks makes each mark take a while.
func (s *session) slowMarks(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onMark = func() { time.Sleep(d) }
}

func (s *session) ResetOffset(_ string, partition int32, offset int64, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marked[partition] = min(s.marked[partition], offset)
	s.resets = append(s.resets, offset)
}

func (s *session) MarkMessage(m *sarama.ConsumerMessage, meta string) {
	s.MarkOffset(m.Topic, m.Partition, m.Offset+1, meta)
}

func (s *session) Commit() {
	s.mu.Lock()
	s.commits++
	call := s.onCommit
	s.mu.Unlock()
	if call != nil {
		call()
	}
}

func (s *session) committed(partition int32) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marked[partition]
}

func (s *session) allMarks() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.marks)
}

func (s *session) lastText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// memberSession is a session whose member holds a lease and commits by itself.
type memberSession struct {
	*session
	work     context.Context
	stopWork context.CancelCauseFunc
	stopping bool
	stored   int64 // what Committed says
	text     string
	refusal  error // of Store
	store    func(context.Context)
	unread   []error // of Committed, in turn
	ask      func(context.Context)
	release  func(context.Context)
	settle   func(context.Context) error
	limit    int // of a text
	trusted  []int32
	overdue  atomic.Bool
	restarts int
	yields   int
	draining bool
	rejoins  []error
}

var _ member.Session = (*memberSession)(nil)

func newMemberSession() *memberSession {
	m := &memberSession{session: newSession(), limit: 4096}
	m.work, m.stopWork = context.WithCancelCause(context.Background())
	return m
}

// another is the next session of the same member.
func (m *memberSession) another() *memberSession {
	next := newMemberSession()
	next.work, next.stopWork, next.generation = m.work, m.stopWork, m.GenerationID()
	return next
}

func (m *memberSession) Draining() bool           { return m.draining }
func (m *memberSession) StopGrace() time.Duration { return time.Hour * 24 * 365 }

func (m *memberSession) Yield() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.yields++
}

func (m *memberSession) Rejoin(cause error) {
	m.mu.Lock()
	m.rejoins = append(m.rejoins, cause)
	m.mu.Unlock()
	m.cancel(cause)
}

func (m *memberSession) Work() context.Context { return m.work }
func (m *memberSession) Overdue() bool         { return m.overdue.Load() }

// errStopped is the cause with which a test stops a member.
var errStopped = errors.New("the test stops the member")

func (m *memberSession) Stopping() bool {
	return m.stopping || errors.Is(context.Cause(m.ctx), errStopped)
}

func (m *memberSession) Committer(_ string, partition int32) member.Committer {
	return committer{m, partition}
}

type committer struct {
	m         *memberSession
	partition int32
}

func (c committer) Committed(ctx context.Context) (member.Position, error) {
	if c.m.ask != nil {
		c.m.ask(ctx)
	}
	if len(c.m.unread) > 0 {
		err := c.m.unread[0]
		c.m.unread = c.m.unread[1:]
		return member.Position{Offset: -1}, err
	}
	return member.Position{Offset: c.m.stored, Metadata: c.m.text}, ctx.Err()
}

func (c committer) Commit(p member.Position) { c.m.MarkOffset("", c.partition, p.Offset, p.Metadata) }

// Store is apart from onMark, which is about commits of finished tasks.
func (c committer) Store(ctx context.Context, p member.Position) error {
	if c.m.store != nil {
		c.m.store(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.marked[c.partition] = max(c.m.marked[c.partition], p.Offset)
	c.m.marks, c.m.session.text = append(c.m.marks, p.Offset), p.Metadata
	return c.m.refusal
}

func (c committer) Settled(ctx context.Context) error {
	if c.m.settle != nil {
		return c.m.settle(ctx)
	}
	return nil
}

func (c committer) Trust(generation int32) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.trusted = append(c.m.trusted, generation)
}

func (c committer) MaxMetadata() int { return c.m.limit }

func (c committer) Release(ctx context.Context) {
	if c.m.release != nil {
		c.m.release(ctx)
	}
}

// claim is a sarama claim with a channel that the test fills and closes.
type claim struct {
	partition int32
	initial   int64
	end       int64 // high watermark
	messages  chan *sarama.ConsumerMessage

	mu     sync.Mutex
	paused bool
	pauses int
}

// newClaim returns a claim that has n messages, from offset 0.
func newClaim(partition int32, n int) *claim {
	c := &claim{partition: partition, messages: make(chan *sarama.ConsumerMessage, max(n, 1024))}
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
func (c *claim) HighWaterMarkOffset() int64               { return c.end }
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

// logBook keeps what was logged, one line an entry.
type logBook struct {
	quiet bool // keeps nothing

	mu    sync.Mutex
	lines []string
}

func (b *logBook) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.quiet {
		b.lines = append(b.lines, string(p))
	}
	return len(p), nil
}

// with returns the lines that have all parts.
func (b *logBook) with(parts ...string) (found []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.lines {
		missing := 0
		for _, part := range parts {
			if !strings.Contains(line, part) {
				missing++
			}
		}
		if missing == 0 {
			found = append(found, line)
		}
	}
	return found
}
