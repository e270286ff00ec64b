package consumer_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// stalled is a coordinator whose group has ended a round, of which the leader has not told the assignments.
type stalled struct {
	sync       link.Sync
	generation int32       // of the group
	told       atomic.Bool // the leader has
}

// newStalled is as seen by the member of [session], which has the assignment of generation 1.
func newStalled() *stalled {
	return &stalled{sync: link.Sync{MemberID: "m-1", Generation: 2, Sent: time.Now(), Out: true}, generation: 2}
}

func (s *stalled) coordinator() consumer.Coordinator {
	return consumer.Coordinator{
		Completing: func() bool { return !s.told.Load() }, Sync: func() link.Sync { return s.sync },
		BeatIn: func(_ context.Context, generation int32) error {
			if generation != s.generation {
				return sarama.ErrIllegalGeneration
			}
			return nil
		},
	}
}

// D6-8: a leader that stalls or dies between its join and its sync is sat out. The lease lives on heartbeats of the new generation, as long as
// they prove that no assignment of it has been handed out, and that it is the one after ours.
func TestAStalledLeaderIsSatOut(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *stalled)
		kept   bool
	}{
		"our sync waits for it":                   {func(*stalled) {}, true},
		"it has told, and our answer is lost":     {func(s *stalled) { s.told.Store(true) }, false},
		"the connection of our sync is gone":      {func(s *stalled) { s.sync.Out = false }, false},
		"our sync is that of another member":      {func(s *stalled) { s.sync.MemberID = "m-2" }, false},
		"a round has gone by without us":          {func(s *stalled) { s.sync.Generation, s.generation = 3, 3 }, false},
		"another round than that of our sync":     {func(s *stalled) { s.generation = 3 }, false},
		"the sync cannot be read":                 {func(s *stalled) { s.sync.MemberID, s.sync.Generation = "", 0 }, false},
		"the generation before is being repeated": {func(s *stalled) { s.sync.Generation, s.generation = 1, 1 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStalled()
				test.change(s)
				_, work := beginSilent(t, nil, func(c *consumer.Coordinator) { *c = s.coordinator() })
				time.Sleep(plan(t).Lease - time.Second)
				synctest.Wait()
				if work.Err() != nil {
					t.Fatal("cancelled before the lease is over:", context.Cause(work))
				}
				time.Sleep(time.Hour)
				if kept := work.Err() == nil; kept != test.kept {
					t.Errorf("the tasks go on: %v, want %v", kept, test.kept)
				}
			})
		})
	}
}

// G12: when the leader has told, the answer to our sync may be lost, and then others may own our partitions. What counts is the last
// heartbeat before, from when it was sent.
func TestTheLeaseEndsAfterTheLeaderHasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newStalled(), plan(t)
		_, work := beginSilent(t, nil, func(c *consumer.Coordinator) { *c = s.coordinator() })
		time.Sleep(10*p.Lease + time.Millisecond)
		synctest.Wait()
		s.told.Store(true)
		begin := time.Now()
		<-work.Done()
		if took := time.Since(begin); took > p.Lease || took < p.Lease-p.HeartbeatInterval-time.Millisecond {
			t.Errorf("cancelled after %v, want %v and one heartbeat less at least", took, p.Lease)
		}
		if cause := context.Cause(work); !errors.Is(cause, handler.ErrLost) || !errors.Is(cause, sarama.ErrIllegalGeneration) {
			t.Errorf("cancelled with %v", cause)
		}
	})
}

// A heartbeat whose question was answered before the leader told, and that itself was answered after, counts from before the question.
func TestWhatALeaderIsAskedCountsFromBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newStalled(), plan(t)
		_, work := beginSilent(t, nil, func(c *consumer.Coordinator) {
			*c = s.coordinator()
			c.Completing = func() bool {
				before := !s.told.Load()
				time.Sleep(p.HeartbeatInterval / 2)
				return before
			}
		})
		time.Sleep(5*p.HeartbeatInterval + p.HeartbeatInterval/4)
		s.told.Store(true)
		asked := time.Now().Add(-p.HeartbeatInterval / 4)
		<-work.Done()
		if got, want := time.Since(asked), p.Lease; got != want {
			t.Errorf("cancelled %v after the last question, want %v", got, want)
		}
	})
}

// The broker is not asked in each round: an assignment is as a rule there before the next heartbeat.
func TestARoundThatIsShortIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := newStalled(), atomic.Int64{}
		beginSilent(t, nil, func(c *consumer.Coordinator) {
			*c = s.coordinator()
			c.Completing = func() bool { return asked.Add(1) > 0 }
			c.Sync = func() link.Sync {
				sync := s.sync
				sync.Sent = time.Now().Add(-plan(t).HeartbeatInterval / 2)
				return sync
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := asked.Load(); n > 0 {
			t.Errorf("asked %d times", n)
		}
	})
}

// G12: between two sessions a leader is waited for as long as the slowest member is.
func TestAStalledLeaderIsSatOutBetweenSessions(t *testing.T) {
	for _, out := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newStalled()
			s.sync.Out = out
			m, work := beginSilent(t, nil, func(c *consumer.Coordinator) { *c = s.coordinator() })
			m.Keep(1)
			m.EndSession()
			time.Sleep(5 * m.Plan().RebalanceTimeout)
			synctest.Wait()
			if kept := work.Err() == nil; kept != out {
				t.Errorf("sync out %v: the tasks go on: %v", out, kept)
			}
		})
	}
}

// Whether the leader has told is what the coordinator says of the group. One that does not say it, or not to us, leaves the lease as it is.
func TestOnlyACompletingGroupWaitsForItsLeader(t *testing.T) {
	for name, test := range map[string]struct {
		group *sarama.GroupDescription
		want  bool
	}{
		"completing":  {&sarama.GroupDescription{GroupId: "reports", State: "CompletingRebalance"}, true},
		"preparing":   {&sarama.GroupDescription{GroupId: "reports", State: "PreparingRebalance"}, false},
		"stable":      {&sarama.GroupDescription{GroupId: "reports", State: "Stable"}, false},
		"unknown":     {nil, false},
		"not told":    {&sarama.GroupDescription{GroupId: "reports", ErrorCode: int16(sarama.ErrGroupAuthorizationFailed)}, false},
		"not by this": {&sarama.GroupDescription{GroupId: "reports", ErrorCode: int16(sarama.ErrNotCoordinatorForConsumer), State: "CompletingRebalance"}, false},
	} {
		b, answer := newMock(t), sarama.NewMockDescribeGroupsResponse(t)
		if test.group != nil {
			answer.AddGroupDescription("reports", test.group)
		}
		b.answers["DescribeGroupsRequest"] = answer
		b.answer()
		if got := b.member(t).Completing(t.Context()); got != test.want {
			t.Errorf("%s: waits for its leader %v, want %v", name, got, test.want)
		}
		asked := requests[*sarama.DescribeGroupsRequest](b)
		if len(asked) != 1 || len(asked[0].Groups) != 1 || asked[0].Groups[0] != "reports" {
			t.Errorf("%s: asked %+v, want reports once", name, asked)
		}
	}
}
