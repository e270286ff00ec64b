package consumer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// ledger records commits and answers them as the test says.
type ledger struct {
	answer func(r commit.Request) error

	mu       sync.Mutex
	requests []commit.Request
}

func (l *ledger) send(_ context.Context, r commit.Request) ([]error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r)
	if l.answer != nil {
		return nil, l.answer(r)
	}
	return make([]error, len(r.Offsets)), nil
}

func (l *ledger) last() commit.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[len(l.requests)-1]
}

// detached begins a session whose commits the ledger answers, and whose heartbeats are answered well.
func detached(t *testing.T, l *ledger, s sarama.ConsumerGroupSession, change func(*consumer.Config)) *life {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m := newConsumer(t, change).Detach(ctx, l.send)
	own, end := m.Begin(s, consumer.Coordinator{Beat: func(context.Context) error { return nil }})
	return &life{m, own, func() {
		end()
		cancel()
		m.Wait()
	}}
}

// life is a membership in the middle of a session. The test ends it.
type life struct {
	*consumer.Member
	session member.Session
	end     func()
}

func (l *life) claim() member.Committer { return l.session.Committer("t", 0) }

// The strategy hears of an assignment before sarama's session does. A claim that lets go in between commits with the generation that the
// coordinator knows: the older one would be refused.
func TestACommitCarriesAnAssignmentThatTheSessionHasNotHeardOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		m := detached(t, l, session(), nil)
		defer m.end()
		c := m.claim()
		m.Assign(map[string][]int32{}, 2)
		c.Commit(member.Position{Offset: 5})
		synctest.Wait()
		if got := l.last(); got.Generation != 2 {
			t.Errorf("committed with generation %d, want 2", got.Generation)
		}
	})
}

// G5: in a generation that was missed the partition may have been somebody else's, and the broker does not know whose it is. A claim
// commits with the one after it when it is trusted again.
func TestACommitCarriesNoGenerationAfterAMissedOneBeforeItIsTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		m := detached(t, l, session(), nil)
		defer m.end()
		old := m.claim()
		m.Assign(map[string][]int32{"t": {0}}, 3)
		fresh := m.claim() // made after the gap: it has read what is committed
		for _, step := range []struct {
			c    member.Committer
			do   func()
			want int32
		}{
			{old, func() {}, 1},
			{fresh, func() {}, 3},
			{old, func() { old.Trust(3) }, 3},
			{old, func() { m.Assign(map[string][]int32{"t": {0}}, 4) }, 4},
			{old, func() { m.Assign(map[string][]int32{"t": {0}}, 9) }, 3},
			{old, func() { old.Trust(9) }, 9},
		} {
			step.do()
			step.c.Commit(member.Position{Offset: 5})
			synctest.Wait()
			if got := l.last(); got.Generation != step.want {
				t.Errorf("committed with generation %d, want %d", got.Generation, step.want)
			}
		}
	})
}

// G5: a cooperative session that is told a new member id lives on. What was claimed under the old id is not committed under the new
// one, which would be accepted although the partition may be another member's by then.
func TestACommitCarriesTheMemberIDOfItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := &ledger{}, session()
		m := detached(t, l, s, nil)
		defer m.end()
		old := m.claim()
		s.memberID.Store("m-2")
		old.Commit(member.Position{Offset: 5})
		synctest.Wait()
		if got := l.last(); got.MemberID != "m-1" {
			t.Errorf("committed as %s, want m-1", got.MemberID)
		}
		fresh := m.claim()
		fresh.Commit(member.Position{Offset: 6})
		synctest.Wait()
		if got := l.last(); got.MemberID != "m-2" {
			t.Errorf("committed as %s, want m-2", got.MemberID)
		}
	})
}

// A round of a rebalance and a move of the coordinator take a moment, in which nobody can commit: no reason to warn. One that takes
// longer is told once.
func TestOnlyALateCommitIsWarnedOf(t *testing.T) {
	for takes, want := range map[time.Duration]int{4 * time.Second: 0, 20 * time.Second: 1} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			begin := time.Now()
			l := &ledger{answer: func(commit.Request) error {
				if time.Since(begin) < takes {
					return errors.New("connection reset")
				}
				return nil
			}}
			m := detached(t, l, session(), func(c *consumer.Config) { c.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
			m.claim().Commit(member.Position{Offset: 5})
			time.Sleep(time.Minute)
			m.end()
			if tries := len(l.requests); tries < 3 {
				t.Errorf("%d tries", tries)
			}
			if n := strings.Count(out.String(), "level=WARN"); n != want {
				t.Errorf("%d warnings of a commit that took %v, want %d:\n%s", n, takes, want, &out)
			}
		})
	}
}
