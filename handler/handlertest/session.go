package handlertest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"
)

// timedCommit is how long after a mark the session commits by itself, as sarama does every Consumer.Offsets.AutoCommit.Interval.
const timedCommit = 100 * time.Millisecond

// session is a [sarama.ConsumerGroupSession] that records.
type session struct {
	run        *Run
	ctx        context.Context //nolint:containedctx // a sarama session is its context
	cancel     context.CancelCauseFunc
	generation atomic.Int32
	claims     []*claim // in the order of their starts; the test's goroutine owns it
	timer      *time.Timer
	lost       atomic.Bool // the coordinator refuses its commits
}

var _ sarama.ConsumerGroupSession = (*session)(nil)

func newSession(r *Run) *session {
	s := &session{run: r}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.generation.Store(r.generation)
	s.timer = time.AfterFunc(time.Hour, s.Commit)
	s.timer.Stop()
	return s
}

func (s *session) MemberID() string         { return "handlertest" }
func (s *session) GenerationID() int32      { return s.generation.Load() }
func (s *session) Context() context.Context { return s.ctx }

func (s *session) Claims() map[string][]int32 {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	claims := make(map[string][]int32)
	for key, p := range s.run.parts {
		if s.holds(p) {
			claims[key.Topic] = append(claims[key.Topic], key.Partition)
		}
	}
	return claims
}

// holds says, with the run's lock held, whether the partition is one of the session's.
func (s *session) holds(p *partition) bool { return p != nil && p.claim != nil && p.claim.session == s }

func (s *session) MarkMessage(m *sarama.ConsumerMessage, metadata string) {
	s.MarkOffset(m.Topic, m.Partition, m.Offset+1, metadata)
}

func (s *session) MarkOffset(topic string, partition int32, o int64, metadata string) {
	s.mark(topic, partition, offset{o, metadata}, true)
}

func (s *session) ResetOffset(topic string, partition int32, o int64, metadata string) {
	s.mark(topic, partition, offset{o, metadata}, false)
}

// mark passes over in silence what the session does not hold, as sarama does.
func (s *session) mark(topic string, partition int32, o offset, raise bool) {
	s.run.change(func(r *Run) {
		p := r.parts[claimOf(topic, partition)]
		if s.holds(p) && p.mark(o, raise) {
			r.marks = append(r.marks, p.asMark(o))
			s.timer.Reset(timedCommit)
		}
	})
}

// Commit stores what is marked.
func (s *session) Commit() {
	if s.lost.Load() {
		return
	}
	s.run.change(func(r *Run) {
		for _, p := range r.sorted() {
			if s.holds(p) && p.dirty {
				p.committed, p.dirty = p.marked, false
				r.commits = append(r.commits, p.asMark(p.committed))
			}
		}
	})
}
