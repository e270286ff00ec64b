package fakegroup

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/IBM/sarama"
)

// errRevoked ends one claim under the cooperative protocol. It is seen by nobody outside, as in sarama (consumer_group.go:38).
var errRevoked = errors.New("partition revoked by rebalance")

// session is a [sarama.ConsumerGroupSession]. The Consume goroutine owns running and stopWatch.
type session struct {
	group   *Group
	handler sarama.ConsumerGroupHandler
	marks   *marks
	ctx     context.Context
	cancel  context.CancelCauseFunc

	memberID   atomic.Pointer[string]
	generation atomic.Int32
	claims     atomic.Pointer[map[string][]int32]

	running   map[topicPartition]*runningClaim
	stopWatch context.CancelFunc
	rejoin    chan struct{} // size 1: several signals make one rejoin
	joining   semaphore     // keeps heartbeats out while the member joins again

	wg     sync.WaitGroup // claims
	others sync.WaitGroup // watchers
	quiet  chan struct{}  // closed: heartbeats stop
	silent chan struct{}  // closed: they have stopped
}

var _ sarama.ConsumerGroupSession = (*session)(nil)

// runningClaim is one ConsumeClaim.
type runningClaim struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// open joins the group and starts a session (consumer_group.go:551-564, consumer_group_session.go:91-135): heartbeats begin before
// offsets are fetched and before Setup; a failed Setup is followed by Cleanup.
func (g *Group) open(ctx context.Context, topics []string, h sarama.ConsumerGroupHandler) (*session, error) {
	gen, err := g.negotiate(ctx, topics, nil)
	if errors.Is(err, sarama.ErrClosedClient) {
		return nil, sarama.ErrClosedConsumerGroup
	}
	if err != nil {
		return nil, err
	}
	s := g.newSession(ctx, gen, h)
	if err := s.marks.manage(gen.claims); err != nil {
		_ = s.release(false)
		return nil, err
	}
	if err := h.Setup(s); err != nil {
		_ = s.release(true)
		return nil, err
	}
	s.start(gen.claims)
	s.watchPartitions(gen)
	return s, nil
}

func (g *Group) newSession(ctx context.Context, gen *generation, h sarama.ConsumerGroupHandler) *session {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &session{
		group: g, handler: h, ctx: ctx, cancel: cancel, running: make(map[topicPartition]*runningClaim),
		stopWatch: func() {}, rejoin: make(chan struct{}, 1), joining: newSemaphore(),
		quiet: make(chan struct{}), silent: make(chan struct{}),
	}
	s.become(gen)
	s.claims.Store(&gen.claims)
	s.marks = newMarks(g, gen, cancel)
	// Ends when release closes quiet, or when the member is lost.
	go s.beat()
	// Ends with the session.
	s.others.Go(s.watchKill)
	return s
}

// become takes a new generation's identity.
func (s *session) become(gen *generation) {
	s.memberID.Store(&gen.memberID)
	s.generation.Store(gen.id)
}

func (s *session) watchKill() {
	select {
	case <-s.group.network.kill:
		s.cancel(sarama.ErrClosedClient)
	case <-s.ctx.Done():
	}
}

func (s *session) Claims() map[string][]int32 { return *s.claims.Load() }
func (s *session) MemberID() string           { return *s.memberID.Load() }
func (s *session) GenerationID() int32        { return s.generation.Load() }
func (s *session) Context() context.Context   { return s.ctx }
func (s *session) Commit()                    { s.marks.flush(nil) }

func (s *session) MarkOffset(topic string, partition int32, offset int64, metadata string) {
	s.marks.mark(topicPartition{topic, partition}, offset, metadata)
}

func (s *session) ResetOffset(topic string, partition int32, offset int64, metadata string) {
	s.marks.reset(topicPartition{topic, partition}, offset, metadata)
}

func (s *session) MarkMessage(m *sarama.ConsumerMessage, metadata string) {
	s.MarkOffset(m.Topic, m.Partition, m.Offset+1, metadata)
}

// start runs ConsumeClaim for each claim, on a goroutine of its own.
func (s *session) start(claims map[string][]int32) {
	for _, tp := range flatten(claims) {
		ctx, cancel := context.WithCancelCause(s.ctx)
		rc := &runningClaim{cancel: cancel, done: make(chan struct{})}
		s.running[tp] = rc
		// Ends when ConsumeClaim has returned.
		s.wg.Go(func() {
			defer close(rc.done)
			s.run(ctx, tp)
		})
	}
}

// run ends the whole session when ConsumeClaim returned unasked (consumer_group_session.go:199-203).
func (s *session) run(ctx context.Context, tp topicPartition) {
	defer func() {
		if !errors.Is(context.Cause(ctx), errRevoked) {
			s.cancel(sarama.ErrSessionConsumeClaimExited)
		}
	}()
	if ctx.Err() != nil || isClosed(s.group.closed) {
		return
	}
	c, err := s.openClaim(tp)
	if err != nil {
		s.group.report(err, tp)
		return
	}
	c.serve(ctx, s)
}

// serve calls the handler, closes the claim when the session or the claim's turn ends, and drains it afterwards.
func (c *claim) serve(ctx context.Context, s *session) {
	returned := make(chan struct{})
	// Ends with the claim's turn, or once ConsumeClaim has returned.
	c.wg.Go(func() {
		select {
		case <-ctx.Done():
		case <-s.group.closed:
		case <-c.dying:
		case <-returned:
		}
		c.AsyncClose()
	})
	if err := s.handler.ConsumeClaim(s, c); err != nil {
		s.group.report(err, c.tp)
	}
	close(returned)
	_ = c.drain() // reported already
}

// release ends the session (consumer_group_session.go:346-375): cancel, wait for every ConsumeClaim, Cleanup, final flush, end of heartbeats.
func (s *session) release(cleanup bool) (err error) {
	s.cancel(nil)
	s.wg.Wait()
	if cleanup {
		if err = s.handler.Cleanup(s); err != nil {
			s.group.report(err, topicPartition{})
		}
	}
	s.marks.close()
	close(s.quiet)
	<-s.silent
	s.others.Wait()
	return err
}

// flatten lists the partitions of a claims map.
func flatten(claims map[string][]int32) []topicPartition {
	var all []topicPartition
	for topic, partitions := range claims {
		for _, p := range partitions {
			all = append(all, topicPartition{topic, p})
		}
	}
	return all
}
