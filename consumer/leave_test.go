package consumer_test

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// What Close of sarama's group returns may be a late error of a claim, and hide what became of the leave.
func TestWhetherTheGroupWasToldOfTheLeave(t *testing.T) {
	late := &sarama.ConsumerError{Topic: "t", Err: sarama.ErrNotLeaderForPartition}
	for _, static := range []bool{false, true} {
		m, err := newMock(t).consumer(t, func(cfg *consumer.Config) {
			if static {
				cfg.Sarama.Consumer.Group.InstanceId = "i"
			}
		}).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		wantTold(t, m, map[error]bool{nil: true, io.EOF: false, late: static})
		group, err := m.Link().Coordinator("reports")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := group.LeaveGroup(&sarama.LeaveGroupRequest{}); err != nil {
			t.Fatal(err)
		}
		wantTold(t, m, map[error]bool{nil: true, late: true, errors.New("late"): true, sarama.ErrNotCoordinatorForConsumer: false})
	}
}

func wantTold(t *testing.T, m *consumer.Member, want map[error]bool) {
	t.Helper()
	for err, told := range want {
		if got := m.Told(err); got != told {
			t.Errorf("left %v, error %v: told %v, want %v", m.Link().Left(), err, got, told)
		}
	}
}

// late is a group whose Close returns what nobody had received.
type late struct {
	sarama.ConsumerGroup
	err error
}

func (g late) Close() error { return g.err }

// What Close of sarama's group has drained is told like all other errors of the group.
func TestALateErrorOfTheGroupIsTold(t *testing.T) {
	heard := &failures{}
	m, err := newMock(t).consumer(t, func(cfg *consumer.Config) { cfg.Hooks = []any{heard} }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.LeaveOver(late{err: &sarama.ConsumerError{Topic: "t", Err: sarama.ErrNotLeaderForPartition}})
	if len(heard.list) != 1 || !errors.Is(heard.list[0], sarama.ErrNotLeaderForPartition) {
		t.Errorf("told of %v", heard.list)
	}
}

// slow is a group whose Close ends a while after its connections.
type slow struct {
	sarama.ConsumerGroup
	closed func() bool
	done   atomic.Bool
}

func (g *slow) Close() error {
	for !g.closed() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	g.done.Store(true)
	return nil
}

// G10: nothing of the group goes on when Run has returned, unless it hangs beyond the bound of the leave.
func TestTheLeaveWaitsForTheGroup(t *testing.T) {
	t.Parallel()
	m := newMock(t).member(t)
	g := &slow{closed: m.Link().Closed}
	m.LeaveOver(g)
	if !g.done.Load() {
		t.Error("the group is still closing")
	}
}
