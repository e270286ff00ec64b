package ownership_test

import (
	"context"
	"testing"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// latecomer is a member of ours that has missed a generation in a cooperative session that lives on, while it ran the first message, and the
// rival has handled and committed two in that one. The leader does not withhold the partition, though the member reports that it owns it.
type latecomer struct {
	*kit.Group
	a           *kit.Member
	wire        *wire
	first, rest *kit.Gate // of the tasks of the first message, and of the others
}

// miss calls between in the generation that the member misses, when the rival has committed.
func miss(t *testing.T, s kit.Setting, between func(*latecomer)) *latecomer {
	t.Helper()
	m := &latecomer{Group: ledByOthers(t, s, 1), wire: newWire(), first: kit.NewGate(), rest: kit.NewGate()}
	m.Produce(3)
	r, a := led(t, m.Group, terms{}, m.work, m.wire.member(m.Group))
	m.a = a
	m.wire.hold(syncGroup)
	r.join()
	m.Expel(a) // which does not hear of it
	r.give(r.id)
	r.handle(0)()
	r.handle(1)()
	r.commit(2, rivals)
	between(m)
	joined := r.beginJoin()
	r.awaitCall()
	m.wire.pass(syncGroup)
	joined()
	r.give(a.Status().MemberID)
	m.UntilSeen(2, kit.Assigned, kit.By("a"))
	awaitBeats(m.Group, m.wire)
	return m
}

func (m *latecomer) work(ctx context.Context, t *handler.Task) error {
	if t.Offset == 0 {
		return m.first.Hold(ctx, t)
	}
	return m.rest.Hold(ctx, t)
}

// wantGoneOn wants the rival's progress to have been left alone, and the member to have gone on from there.
func (m *latecomer) wantGoneOn() {
	if o, text, _ := m.Broker.Committed(m.Name, m.Topic, 0); o < 2 {
		m.Errorf("committed went back from 2 to %d with %q", o, text)
	}
	m.rest.Open()
	m.UntilSeen(1, kit.Committed, kit.By("a"), kit.AtOffset(3))
	m.a.Stop()
	m.WantSound(nil)
}

// E3, in a cooperative session that lives on.
func TestE3AMissedGenerationInALiveSessionIsNoProof(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		m := miss(t, s, func(*latecomer) {})
		m.first.Open()
		m.UntilSeen(2, kit.Started, kit.By("a"))
		awaitBeats(m.Group, m.wire)
		m.WantAtMost(0, kit.Started, kit.By("a"), kit.AtOffset(1))
		m.wantGoneOn()
	}, everywhere()...)
}

// E3, with a commit that was refused in the missed generation: sent again in the next one, the broker would take it, over the other owner's.
func TestE3ARefusedCommitIsNotSentAgainBeforeTheProof(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		m := miss(t, s, func(m *latecomer) {
			m.first.Open()
			m.UntilSeen(1, kit.Refused, kit.By("a"))
		})
		m.WantAtMost(0, kit.Committed, kit.By("a"), kit.AtOffset(1))
		m.wantGoneOn()
	}, everywhere()...)
}
