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
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// saramas is sarama's session: its member id may change while it goes on.
type saramas struct {
	sarama.ConsumerGroupSession
	memberID atomic.Value // string
}

func (*saramas) Context() context.Context { return context.Background() }
func (s *saramas) MemberID() string       { return s.memberID.Load().(string) }
func (*saramas) GenerationID() int32      { return 1 }

func session() *saramas {
	s := &saramas{}
	s.memberID.Store("m-1")
	return s
}

// stored answers each commit well.
func stored(_ context.Context, r commit.Request) ([]error, error) {
	return make([]error, len(r.Offsets)), nil
}

// lease runs the lease of a session until it is over, and returns how long it was and why the tasks were cancelled.
func lease(t *testing.T, c consumer.Coordinator) (took time.Duration, cause error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m, begin := newConsumer(t, nil).Detach(ctx, stored), time.Now()
	own, end := m.Begin(session(), c)
	<-own.Work().Done()
	took, cause = time.Since(begin), context.Cause(own.Work())
	end()
	cancel()
	m.Wait()
	return took, cause
}

// beats answers heartbeats by their number; the first is 0.
func beats(answer func(ctx context.Context, n int) error) func(context.Context) error {
	n := -1
	return func(ctx context.Context) error {
		n++
		return answer(ctx, n)
	}
}

func silence(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// G12, B28: a member that the coordinator has removed does not wait for the end of the lease.
func TestARemovalCancelsTheTasksAtOnce(t *testing.T) {
	for _, removal := range []error{sarama.ErrUnknownMemberId, sarama.ErrFencedInstancedId} {
		synctest.Test(t, func(t *testing.T) {
			took, cause := lease(t, consumer.Coordinator{Beat: beats(func(_ context.Context, n int) error {
				if n < 3 {
					return nil
				}
				return removal
			})})
			if !errors.Is(cause, handler.ErrLost) || !errors.Is(cause, removal) {
				t.Errorf("cancelled with %v, want a loss by %v", cause, removal)
			}
			if want := 3 * plan(t).HeartbeatInterval; took != want {
				t.Errorf("%v: cancelled after %v, want at the answer, %v", removal, took, want)
			}
		})
	}
}

// G12: what counts is when a good heartbeat was sent, for the broker's clock may run since then.
func TestTheLeaseCountsFromTheSendingOfAHeartbeat(t *testing.T) {
	const late = 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		took, cause := lease(t, consumer.Coordinator{Beat: beats(func(ctx context.Context, n int) error {
			if n > 0 {
				return silence(ctx)
			}
			time.Sleep(late)
			return nil
		})})
		if want := plan(t).Lease; took != want {
			t.Errorf("cancelled after %v, want %v: the only good heartbeat was sent at once and answered after %v", took, want, late)
		}
		if lost, ok := errors.AsType[*consumer.LeaseError](cause); !ok || lost.Silence != took {
			t.Errorf("cancelled with %v, want a silence of %v", cause, took)
		}
	})
}

// G12: the broker removes a member that sends heartbeats and does not join. One whose join is pending keeps its partitions for as long
// as the round is open, be it that others take longer than its own rebalance timeout.
func TestOnlyAJoinThatIsOutKeepsTheLeaseInARound(t *testing.T) {
	for name, test := range map[string]struct{ joins, until time.Duration }{
		"no join":                              {0, 0},
		"a join that lasts":                    {10 * time.Second, 20 * time.Minute},
		"a join that fails, and none after it": {10 * time.Second, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				joining := func() bool { at := time.Since(begin); return at >= test.joins && at < test.until }
				took, cause := lease(t, consumer.Coordinator{Joining: joining, Beat: func(ctx context.Context) error {
					if time.Since(begin) > time.Hour {
						return silence(ctx)
					}
					return sarama.ErrRebalanceInProgress
				}})
				p := plan(t)
				bound := test.until + p.Lease // counted from the last heartbeat within the join
				if took > bound || took < bound-p.HeartbeatInterval || !errors.Is(cause, handler.ErrLost) {
					t.Errorf("cancelled after %v with %v, want at most %v and one heartbeat less at least", took, cause, bound)
				}
			})
		})
	}
}

// beginSilent begins a session of which no heartbeat is answered; change may make the coordinator another one.
func beginSilent(t *testing.T, conf func(*consumer.Config), change func(*consumer.Coordinator)) (*consumer.Member, context.Context) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m := newConsumer(t, conf).Detach(ctx, stored)
	c := consumer.Coordinator{Beat: silence}
	if change != nil {
		change(&c)
	}
	own, end := m.Begin(session(), c)
	t.Cleanup(func() {
		cancel()
		end()
		m.Wait()
	})
	return m, own.Work()
}

// The end of a round is news from the coordinator, as a good heartbeat is. It counts from the sending of the sync: the broker's clocks
// start no earlier, and the answer may have lain about in a process that was frozen. Where it was sent long ago, the next heartbeat has to
// be answered soon.
func TestAnAssignmentBeginsTheLeaseAnew(t *testing.T) {
	after := plan(t).Lease - time.Second
	soon := plan(t).HeartbeatInterval + plan(t).CallTimeout
	for before, left := range map[time.Duration]time.Duration{
		0:                plan(t).Lease,
		10 * time.Second: plan(t).Lease - 10*time.Second,
		time.Hour:        soon,
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			m, work := beginSilent(t, nil, func(c *consumer.Coordinator) {
				c.Sync = func() link.Sync { return link.Sync{Sent: time.Now().Add(-before), Answered: time.Now()} }
			})
			time.Sleep(after)
			m.Assign(nil, 2)
			<-work.Done()
			if took, want := time.Since(begin), after+left; took != want {
				t.Errorf("synced %v before: cancelled after %v, want %v", before, took, want)
			}
		})
	}
}

// A machine that was suspended may not have counted the time, and one whose clock was set has. The coordinator knows, if it answers soon.
func TestTheLeaseIsInDoubtByTheWallClock(t *testing.T) {
	const leap = 10 * time.Second
	for name, test := range map[string]struct {
		answer func(ctx context.Context) error
		want   time.Duration // from the leap
	}{
		"the coordinator answers well": {func(context.Context) error { return nil }, 0},
		"it does not answer":           {silence, plan(t).CallTimeout + 2*plan(t).HeartbeatInterval},
		"nobody is there":              {func(context.Context) error { return errors.New("connection refused") }, plan(t).HeartbeatInterval},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var leapt atomic.Bool
				m, work := beginSilent(t, nil, func(c *consumer.Coordinator) {
					c.Beat = func(ctx context.Context) error {
						if !leapt.Load() {
							return nil
						}
						return test.answer(ctx)
					}
				})
				time.Sleep(leap)
				synctest.Wait()
				leapt.Store(true)
				begin := time.Now()
				m.SetClock(func() time.Time { return time.Now().Round(0).Add(time.Hour) })
				if test.want == 0 {
					time.Sleep(10 * plan(t).HeartbeatInterval)
					m.SetClock(func() time.Time { return time.Now().Round(0) })
					if work.Err() != nil {
						t.Errorf("cancelled with %v", context.Cause(work))
					}
					return
				}
				<-work.Done()
				if took := time.Since(begin); took > test.want || took >= plan(t).Lease-leap {
					t.Errorf("cancelled after %v, want %v at most", took, test.want)
				}
			})
		})
	}
}

// E20: a group does not wait for a static member longer than its rebalance timeout, and does not remove it either. That its generation is
// over then means that others may have its partitions. It means nothing around a join of its own, and a dynamic member is removed.
func TestAStaticMemberThatWasPassedOverStopsAtOnce(t *testing.T) {
	ago := func(sent, answered time.Duration) func() link.Sync {
		return func() link.Sync { return link.Sync{Sent: time.Now().Add(-sent), Answered: time.Now().Add(-answered)} }
	}
	long := ago(time.Hour, time.Hour)
	for name, test := range map[string]struct {
		instance string
		joining  bool
		sync     func() link.Sync
		lost     bool
	}{
		"static":              {"i-1", false, long, true},
		"static, joining":     {"i-1", true, long, false},
		"static, in its sync": {"i-1", false, func() link.Sync { return link.Sync{Sent: time.Now().Add(-time.Hour)} }, false},
		"static, between the two": {"i-1", false, func() link.Sync {
			return link.Sync{Sent: time.Now().Add(-time.Hour), Answered: time.Now().Add(-time.Hour), Due: true}
		}, false},
		"static, after a sync":           {"i-1", false, ago(0, 0), false},
		"static, after a sync that took": {"i-1", false, ago(time.Hour, time.Second), false},
		"static, on another connection":  {"i-1", false, func() link.Sync { return link.Sync{} }, false},
		"dynamic":                        {"", false, long, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, work := beginSilent(t, func(c *consumer.Config) {
					c.Sarama = sarama.NewConfig()
					c.Sarama.Version, c.Sarama.Consumer.Group.InstanceId = sarama.V2_8_0_0, test.instance
				}, func(c *consumer.Coordinator) {
					c.Beat = func(context.Context) error { return sarama.ErrIllegalGeneration }
					c.Joining, c.Sync = func() bool { return test.joining }, test.sync
				})
				time.Sleep(plan(t).HeartbeatInterval)
				synctest.Wait()
				if lost := work.Err() != nil; lost != test.lost {
					t.Errorf("cancelled: %v, with %v", lost, context.Cause(work))
				}
			})
		})
	}
}

// A heartbeat that was sent while the sync was out says nothing either, however late its answer.
func TestAStaticMemberIsNotPassedOverByItsOwnRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		answer := 3*plan(t).HeartbeatInterval + time.Millisecond
		_, work := beginSilent(t, func(c *consumer.Config) {
			c.Sarama = sarama.NewConfig()
			c.Sarama.Version, c.Sarama.Consumer.Group.InstanceId = sarama.V2_8_0_0, "i-1"
		}, func(c *consumer.Coordinator) {
			c.Beat = func(context.Context) error {
				if time.Since(begin) < answer-time.Millisecond {
					return sarama.ErrRebalanceInProgress
				}
				time.Sleep(2 * plan(t).HeartbeatInterval)
				return sarama.ErrIllegalGeneration
			}
			c.Sync = func() (s link.Sync) {
				if s.Sent = begin; time.Since(begin) >= answer {
					s.Answered = begin.Add(answer)
				}
				return s
			}
		})
		time.Sleep(5*plan(t).HeartbeatInterval + time.Second)
		synctest.Wait()
		if work.Err() != nil {
			t.Errorf("lost: %v", context.Cause(work))
		}
	})
}

// A clock that is set while a heartbeat is out says nothing of the answer: the next one decides.
func TestAClockIsSetDuringAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, work := beginSilent(t, nil, func(c *consumer.Coordinator) {
			c.Beat = func(context.Context) error {
				time.Sleep(time.Second)
				return nil
			}
		})
		time.Sleep(4*plan(t).HeartbeatInterval + time.Second/2)
		m.SetClock(func() time.Time { return time.Now().Round(0).Add(time.Hour) })
		time.Sleep(time.Minute)
		synctest.Wait()
		if work.Err() != nil {
			t.Errorf("lost though each heartbeat was answered well: %v", context.Cause(work))
		}
	})
}
