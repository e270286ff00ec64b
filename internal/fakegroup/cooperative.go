package fakegroup

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

// runCooperative keeps one session while its assignment changes (consumer_group_cooperative.go:11-49).
func (s *session) runCooperative(ctx context.Context, topics []string) error {
	err := s.rejoinWhenAsked(ctx, topics)
	if released := s.release(true); err == nil {
		err = released
	}
	return err
}

func (s *session) rejoinWhenAsked(ctx context.Context, topics []string) error {
	for {
		select {
		case <-s.group.closed:
			return nil
		case <-s.ctx.Done():
			return nil
		case <-s.rejoin:
		}
		for again := true; again; {
			gen, err := s.renew(ctx, topics)
			if errors.Is(err, sarama.ErrClosedClient) {
				return sarama.ErrClosedConsumerGroup
			}
			if err != nil {
				return err
			}
			if again, err = s.reconcile(gen); err != nil {
				return err
			}
		}
	}
}

// renew joins again with what is held. No heartbeat is sent and no commit is made meanwhile (consumer_group_cooperative.go:51-86).
func (s *session) renew(ctx context.Context, topics []string) (*generation, error) {
	h := &held{claims: s.Claims(), generation: s.GenerationID()}
	s.joining.lock()
	defer s.joining.unlock()
	select {
	case <-s.rejoin: // this join covers it
	default:
	}
	s.marks.generation.lock()
	defer s.marks.generation.unlock()
	gen, err := s.group.negotiate(ctx, topics, h)
	if err != nil {
		return nil, err
	}
	s.become(gen)
	s.marks.memberID, s.marks.generationID = gen.memberID, gen.id
	return gen, nil
}

// reconcile takes the new assignment over: revoked claims go first, and added ones start after the last of them has returned
// (consumer_group_cooperative.go:89-114). It reports whether another join is due.
func (s *session) reconcile(gen *generation) (bool, error) {
	revoked := without(s.Claims(), gen.claims)
	added := without(gen.claims, s.Claims())
	if len(revoked) > 0 {
		if err := s.revoke(revoked); err != nil {
			return false, err
		}
		s.marks.remove(flatten(revoked))
	}
	for topic := range added {
		if err := s.group.cluster.known(topic); err != nil {
			return false, err
		}
	}
	if err := s.marks.manage(added); err != nil {
		return false, err
	}
	s.claims.Store(&gen.claims)
	s.start(added)
	s.watchPartitions(gen)
	return len(revoked) > 0, nil
}

// revoke closes claims and waits for them, all together at most for the rebalance timeout (consumer_group_cooperative.go:117-143).
// Neither Close nor the end of the context cuts the wait short.
func (s *session) revoke(claims map[string][]int32) error {
	var stopping []*runningClaim
	for _, tp := range flatten(claims) {
		if rc := s.running[tp]; rc != nil {
			rc.cancel(errRevoked)
			stopping = append(stopping, rc)
			delete(s.running, tp)
		}
	}
	timer := time.NewTimer(s.group.cfg.Consumer.Group.Rebalance.Timeout)
	defer timer.Stop()
	for _, rc := range stopping {
		select {
		case <-rc.done:
		case <-timer.C:
			s.group.report(sarama.ErrRebalanceTimedOut, topicPartition{})
			s.cancel(sarama.ErrRebalanceTimedOut)
			return sarama.ErrRebalanceTimedOut
		}
	}
	return nil
}

// without returns the claims in a that are not in b.
func without(a, b map[string][]int32) map[string][]int32 {
	rest := make(map[string][]int32)
	for _, tp := range flatten(a) {
		if !slices.Contains(b[tp.topic], tp.partition) {
			rest[tp.topic] = append(rest[tp.topic], tp.partition)
		}
	}
	return rest
}
