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
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// between is a member whose session has ended, with tasks that go on. Its heartbeats are counted.
type between struct {
	*consumer.Member
	beats   atomic.Int64
	joining atomic.Bool
	answer  atomic.Pointer[error]
}

func betweenSessions(t *testing.T, kept int) *between {
	t.Helper()
	b := &between{Member: newConsumer(t, nil).Detach(t.Context(), nil)}
	_, end := b.Begin(session(), consumer.Coordinator{
		Beat: func(context.Context) error {
			b.beats.Add(1)
			if err := b.answer.Load(); err != nil {
				return *err
			}
			return nil
		},
		Joining: b.joining.Load,
	})
	t.Cleanup(end)
	time.Sleep(time.Minute)
	b.Keep(kept)
	b.EndSession()
	return b
}

// wait returns how many heartbeats go out in a time.
func (b *between) wait(d time.Duration) int64 {
	before := b.beats.Load()
	time.Sleep(d)
	synctest.Wait()
	return b.beats.Load() - before
}

// G12: tasks that go on between two sessions are under the lease, and the lease lives on heartbeats. A member that does not try to join
// gives its partitions up within the rebalance timeout, and its tasks with them; a join that is out may take as long as the slowest member.
func TestTheLeaseGoesOnBetweenSessions(t *testing.T) {
	for _, joining := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := betweenSessions(t, 1)
			b.joining.Store(joining)
			r := b.Plan().RebalanceTimeout
			if n := b.wait(r - time.Second); n < int64(r/b.Plan().HeartbeatInterval)-1 {
				t.Errorf("joining %v: %d heartbeats in %v", joining, n, r)
			}
			if b.Work().Err() != nil {
				t.Fatal("the tasks are cancelled already")
			}
			n := b.wait(2 * r)
			if ended := b.Work().Err() != nil; ended == joining || (n > 1) != joining {
				t.Errorf("joining %v: %d heartbeats in %v later, tasks cancelled %v", joining, n, 2*r, ended)
			}
			if !joining && !errors.Is(context.Cause(b.Work()), handler.ErrLost) {
				t.Errorf("cancelled with %v", context.Cause(b.Work()))
			}
		})
	}
}

// A commit without an answer is worth the membership too: when the partition comes back, what it was about is not run again.
func TestACommitWithoutAnAnswerKeepsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context, _ commit.Request) ([]error, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		m := newConsumer(t, nil).Detach(ctx, silent)
		own, end := m.Begin(session(), consumer.Coordinator{
			Beat: func(context.Context) error { return nil }, Joining: func() bool { return true },
		})
		own.Committer("t", 0).Commit(member.Position{Offset: 5})
		m.EndSession()
		time.Sleep(time.Hour)
		if m.Work().Err() != nil {
			t.Errorf("the membership has ended: %v", context.Cause(m.Work()))
		}
		cancel()
		end()
		m.Wait()
	})
}

// Without a task there is nothing to keep a lease for.
func TestNoHeartbeatsWithoutASessionAndTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := betweenSessions(t, 0)
		if n := b.wait(time.Hour); n > 1 {
			t.Errorf("%d heartbeats", n)
		}
	})
}

// The coordinator's word that the member is none ends tasks between two sessions too; that a generation is over does not: the next
// assignment may be on its way.
func TestAnswersBetweenSessions(t *testing.T) {
	for answer, lost := range map[error]bool{sarama.ErrUnknownMemberId: true, sarama.ErrFencedInstancedId: true, sarama.ErrIllegalGeneration: false} {
		synctest.Test(t, func(t *testing.T) {
			b := betweenSessions(t, 1)
			b.answer.Store(&answer)
			b.wait(10 * time.Second)
			if got := b.Work().Err() != nil; got != lost {
				t.Errorf("%v: tasks cancelled %v, want %v", answer, got, lost)
			}
		})
	}
}

// A session under the same member id goes on with the tenure, and with its tasks; another id is another member's.
func TestATenureIsThatOfAMemberID(t *testing.T) {
	for id, want := range map[string]bool{"m-1": true, "m-2": false} {
		synctest.Test(t, func(t *testing.T) {
			b := betweenSessions(t, 1)
			work := b.Work()
			if same := b.Rejoin(id); same != want {
				t.Errorf("%s goes on under the same tenure: %v", id, same)
			}
			if ended := work.Err() != nil; ended == want {
				t.Errorf("%s: tasks of m-1 cancelled %v", id, ended)
			}
		})
	}
}

// E1: what ends between two sessions is committed with the generation of its claim, and never a newer one: the broker would take it for
// that of whoever owns the partition now.
func TestALateCommitCarriesTheGenerationOfItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		m := detached(t, l, session(), nil)
		defer m.end()
		c := m.claim()
		m.EndSession()
		m.Assign(map[string][]int32{}, 99)
		c.Commit(member.Position{Offset: 5})
		synctest.Wait()
		if got := l.last(); got.Generation == 99 || got.MemberID != "m-1" {
			t.Errorf("committed as %s with generation %d", got.MemberID, got.Generation)
		}
	})
}
