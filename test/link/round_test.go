package link_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// slowly makes a member that hears of a rebalance late: the round stays open for that long.
func slowly(o options) options {
	o.beat = 5 * time.Second
	return o
}

// afterBeat returns just after a heartbeat, so that the next one is a whole interval away.
func (m *member) afterBeat() {
	beats := m.wire.count(heartbeat)
	eventually(m.t, "a heartbeat", func() bool { return m.wire.count(heartbeat) > beats })
}

// TestCommitsGoOnDuringARound: one member hears of a newcomer late; the other one's join is pending meanwhile, and its commits are
// answered and accepted.
func TestCommitsGoOnDuringARound(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, s sarama.BalanceStrategy) {
		b := shared.Kafka(t, kafkatest.Newest)
		name := topic(t, b, 6)
		o := options{strategy: s, topics: []string{name}}
		m := newMember(t, b, name, o)
		eventually(t, "it holds all", func() bool { return m.holds() == 6 })
		late := newMember(t, b, name, slowly(o))
		eventually(t, "they share", func() bool { return m.holds() == 3 && late.holds() == 3 })
		late.afterBeat()
		joins := m.wire.count(joinGroup)

		newMember(t, b, name, o)
		eventually(t, "its join is pending", func() bool { return m.wire.count(joinGroup) > joins })
		if !m.link.Joining() {
			t.Error("the link does not know")
		}
		var took []time.Duration
		for i := range 100 {
			from := time.Now()
			code, err := m.commit(t.Context(), 0, int64(i))
			if code == sarama.ErrIllegalGeneration && len(took) >= 10 {
				break // the late member was quicker than a hundred commits
			}
			took = append(took, time.Since(from))
			if err != nil || code != sarama.ErrNoError {
				t.Fatalf("commit %d: %v, %v", i, code, err)
			}
		}
		middle, longest := spread(took)
		t.Logf("%d commits during a pending join: p50 %s, max %s", len(took), middle, longest)
		eventually(t, "all share", func() bool { return m.holds() == 2 })
		eventually(t, "no join is pending", func() bool { return !m.link.Joining() })
	})
}

// TestSlowJoinIsNotCut: the answer to a join takes longer than the short deadline. No session ends for it.
func TestSlowJoinIsNotCut(t *testing.T) {
	t.Parallel()
	b := shared.Kafka(t, kafkatest.Newest)
	name := topic(t, b, 6)
	o := options{strategy: sarama.NewBalanceStrategyCooperativeSticky(), topics: []string{name}, link: link.Options{Short: time.Second}}
	m := newMember(t, b, name, o)
	eventually(t, "it holds all", func() bool { return m.holds() == 6 })
	late := newMember(t, b, name, slowly(o))
	eventually(t, "they share", func() bool { return m.holds() == 3 && late.holds() == 3 })
	late.afterBeat()
	newMember(t, b, name, o)
	eventually(t, "all share", func() bool { return m.holds() == 2 })
	if n := state(m, func() int { return m.sessions }); n != 1 {
		t.Errorf("%d sessions: %v", n, state(m, func() []error { return m.errs }))
	}
}

// TestCancelDuringAJoin: a newcomer, and a member that joins again, return at once though the round goes on, and are out of the group.
func TestCancelDuringAJoin(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, s sarama.BalanceStrategy) {
		b := shared.Kafka(t, kafkatest.Newest)
		name := topic(t, b, 6)
		o := options{strategy: s, topics: []string{name}}
		slow := newMember(t, b, name, slowly(o))
		eventually(t, "it holds all", func() bool { return slow.holds() == 6 })
		m := newMember(t, b, name, o)
		eventually(t, "they share", func() bool { return m.holds() == 3 && slow.holds() == 3 })
		slow.afterBeat()
		before, joins := slow.wire.count(joinGroup), m.wire.count(joinGroup)

		newcomer := newMember(t, b, name, o)
		eventually(t, "the newcomer's join is pending", func() bool { return newcomer.wire.count(joinGroup) == 2 }) // the first asks for a member ID
		eventually(t, "the member's join is pending", func() bool { return m.wire.count(joinGroup) > joins })
		for who, m := range map[string]*member{"newcomer": newcomer, "member": m} {
			from := time.Now()
			m.halt()
			if err := m.stop(); err != nil {
				t.Errorf("%s: %v", who, err)
			}
			t.Logf("%s: gone after %s", who, time.Since(from))
			if n := m.wire.count(leaveGroup); n != 1 {
				t.Errorf("%s: %d LeaveGroup requests", who, n)
			}
		}
		if slow.wire.count(joinGroup) != before {
			t.Error("the round was over before")
		}
		if n := members(t, b, name); n != 1 {
			t.Errorf("%d members left", n)
		}
		eventually(t, "the rest holds all", func() bool { return slow.holds() == 6 })
	})
}
