package fakegroup

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
)

// beat sends heartbeats at the configured interval, the first at once, until the session has been released or the member is lost
// (consumer_group_session.go:394-484). A handler that overstays does not stop it.
func (s *session) beat() {
	defer close(s.silent)
	defer s.cancel(sarama.ErrSessionHeartbeatFailed)
	tick := time.NewTicker(s.group.cfg.Consumer.Group.Heartbeat.Interval)
	defer tick.Stop()
	for retries := s.group.cfg.Metadata.Retry.Max; ; {
		answer, err := s.heartbeat()
		switch {
		case err != nil && retries > 0: // no pause between tries (consumer_group_session.go:428-438)
			retries--
			continue
		case err != nil:
			s.lose(err)
			return
		case answer == sarama.ErrNoError, answer == sarama.ErrRebalanceInProgress:
			retries = s.group.cfg.Metadata.Retry.Max
		case moved(answer) && retries > 0:
			retries--
			if s.rest(s.group.cfg.Metadata.Retry.Backoff) {
				continue
			}
			return
		default:
			s.lose(answer)
			return
		}
		select {
		case <-tick.C:
		case <-s.quiet:
			return
		}
	}
}

// moved says that the coordinator is elsewhere: the heartbeat looks for it and goes on (consumer_group_session.go:446-462).
func moved(err sarama.KError) bool {
	return err == sarama.ErrNotCoordinatorForConsumer || err == sarama.ErrConsumerCoordinatorNotAvailable
}

func (s *session) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.quiet:
		return false
	}
}

// lose ends the session with its cause. Plain expulsions are not reported as errors (consumer_group_session.go:463-477).
func (s *session) lose(err error) {
	if !errors.Is(err, sarama.ErrUnknownMemberId) && !errors.Is(err, sarama.ErrIllegalGeneration) {
		s.group.report(err, topicPartition{})
	}
	s.cancel(err)
}

// heartbeat sends one. The rebalance is signalled before a join may start, so that the signal is never late.
func (s *session) heartbeat() (sarama.KError, error) {
	s.joining.lock()
	defer s.joining.unlock()
	req := &sarama.HeartbeatRequest{MemberId: s.MemberID(), GenerationId: s.GenerationID(), GroupInstanceId: s.group.instance}
	resp, err := call(s.group.network, func() *sarama.HeartbeatResponse { return s.group.coord.heartbeat(req) })
	if err != nil {
		return sarama.ErrNoError, err
	}
	if resp.Err == sarama.ErrRebalanceInProgress {
		s.signal(resp.Err)
	}
	return resp.Err, nil
}

// signal tells the session of a rebalance: eager sessions end, cooperative ones join again (consumer_group_cooperative.go:158-167).
func (s *session) signal(cause error) {
	if s.group.protocol == sarama.RebalanceProtocolEager {
		s.cancel(cause)
		return
	}
	select {
	case s.rejoin <- struct{}{}:
	default:
	}
}

// watchPartitions lets the leader look for new partitions every Metadata.RefreshFrequency (consumer_group.go:864-905).
func (s *session) watchPartitions(gen *generation) {
	s.stopWatch()
	s.stopWatch = func() {}
	if !gen.leader || s.group.cfg.Metadata.RefreshFrequency == 0 {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.stopWatch = cancel
	// Ends with the session, or when the next generation's watch begins.
	s.others.Go(func() { s.watch(ctx, gen.topics) })
}

func (s *session) watch(ctx context.Context, topics map[string]int) {
	tick := time.NewTicker(s.group.cfg.Metadata.RefreshFrequency)
	defer tick.Stop()
	for {
		if s.grown(topics) {
			s.signal(sarama.ErrSessionPartitionCountChanged)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.group.closed:
			return
		}
	}
}

func (s *session) grown(topics map[string]int) bool {
	for topic, n := range topics {
		if now, err := s.group.cluster.partitions(topic); err != nil || len(now) != n {
			return true
		}
	}
	return false
}
