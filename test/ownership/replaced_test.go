package ownership_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

const instance = "reports-1"

// E2, KIP-345. Whoever starts with the same instance id is the member from then on, in the same generation, and nobody in the group hears
// of it. The first one ends. Started again it is the member again, in this generation still, and knows nothing of what it had.
func TestE2AStaticMemberIsReplacedWithinAGeneration(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.InstanceID = instance
		g.Produce(2)
		gate := kit.NewGate()
		r, a := led(t, g, terms{}, lateSuccess(gate))
		replace(t, g, r, a)
		g.UntilSeen(1, kit.Stopped, kit.By("a"))
		wantRivals(t, g)
		g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))

		again := g.Start("a again", gate.Hold)
		g.UntilSeen(1, kit.Started, kit.By("a again"), kit.AtOffset(1))
		if now := again.Status().Generation; now != r.generation() {
			g.Errorf("generation %d, want still %d", now, r.generation())
		}
		gate.Open()
		g.UntilAllHandled()
		again.Stop()
		g.WantAtMost(1, kit.Started, kit.By("a again"))
		g.WantAtMost(0, kit.Cancelled, kit.By("a again"))
		g.WantSound(nil)
	}, everywhere()...)
}

// replace lets another rival take the place of the static member of a group, which the first one leads, and do its first message.
func replace(t *testing.T, g *kit.Group, r *rival, a *kit.Member) {
	t.Helper()
	x := newRival(t, g, "x", terms{instance: instance, metadata: r.metadata[r.other()]})
	g.Expel(a) // which does not hear of it
	x.join()
	if x.generation() != r.generation() || x.follow() != 1 {
		g.Fatalf("x has not taken the place of a in generation %d", r.generation())
	}
	owned := g.Note("x owns the partition")
	end := x.handle(0)
	cancelled := g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.Is(handler.ErrLost))[0]
	g.WantWithin("until the task is cancelled", owned, cancelled.At, g.Plan().HeartbeatInterval)
	end()
	x.commit(1, rivals)
}

// E2. The group is deleted under a member that waits to join again, and another one has the partition in generation 1 of the new group. To
// the member the next generation seems to have come, but it is another member now.
func TestE2AMemberOfADeletedGroupAdoptsNothing(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(r *rival, text string){
		"commits gone":       func(*rival, string) {},
		"commits moved back": func(r *rival, text string) { r.commit(0, text) },
	} {
		t.Run(name, func(t *testing.T) {
			kit.Each(t, func(t *testing.T, s kit.Setting) {
				g, a := remade(t, s, leave)
				again := g.UntilSeen(2, kit.Started, kit.By("a"))[1]
				g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.AtOffset(0))
				g.WantAtMost(0, kit.Cancelled, kit.After(again.At))
				g.gate.Open()
				g.UntilAllHandled()
				a.Stop()
				g.WantAtMost(2, kit.Started, kit.By("a"), kit.AtOffset(0))
				g.WantSound(nil)
			}, everywhere()...)
		})
	}
}

// E2. The other one has done the first message.
func TestE2AMemberOfADeletedGroupGoesOnWhereTheOtherOneWas(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, a := remade(t, s, func(r *rival, _ string) { r.commit(1, rivals) })
		g.UntilSeen(1, kit.Started, kit.By("a"), kit.AtOffset(1))
		g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.AtOffset(0))
		g.gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(1, kit.Started, kit.By("a"), kit.AtOffset(0))
		g.WantSound(nil)
	}, everywhere()...)
}

// remade deletes the group while its one member tries to join again, and makes it anew with a rival that has the partition in generation 1,
// does the first message, and leaves what it is told. The member, which has seen generation 1 too, gets it back in generation 2.
func remade(t *testing.T, s kit.Setting, leave func(r *rival, text string)) (g gated, a *kit.Member) {
	t.Helper()
	g = gated{ledByOthers(t, s, 1), kit.NewGate()}
	g.Produce(2)
	w := newWire()
	a = g.Start("a", g.gate.Hold, w.member(g.Group))
	g.UntilSeen(1, kit.Started)
	g.UntilSeen(1, kit.Committed, kit.AtOffset(0))
	before, text := a.Status(), textOf(g.Group)
	g.Expel(a)
	disband(t, g.Group, w, before.MemberID)
	r := newRival(t, g.Group, "rival", terms{})
	r.join()
	r.give(r.id)
	r.handle(0)()
	leave(r, text)
	w.pass(joinGroup)
	r.awaitCall()
	r.join()
	r.give(r.other())
	g.Until("a is a member again", func() bool { return a.Status().MemberID != before.MemberID })
	if before.Generation != 1 || r.generation() != 2 {
		g.Fatalf("a was of generation %d, and is of %d now, want 1 and 2", before.Generation, r.generation())
	}
	w.pass(guard)
	return g, a
}

func textOf(g *kit.Group) string {
	_, text := g.State(0)
	return text
}

// disband lets the one member of a group hear of a newcomer, and deletes the group before it can join again. Its lease hears nothing.
func disband(t *testing.T, g *kit.Group, w *wire, member string) {
	t.Helper()
	joins := w.count(joinGroup)
	w.hold(guard)
	w.hold(joinGroup)
	newcomer := newRival(t, g, "newcomer", terms{})
	newcomer.beginJoin()
	g.Until("a's join is on its way", func() bool { return w.count(joinGroup) > joins })
	remove(t, g, sarama.MemberIdentity{MemberId: member}, sarama.MemberIdentity{MemberId: newcomer.id})
	newcomer.die()
	deleteGroup(t, g)
}

// E9. The count of the stamp is what others can tell owners apart by, later ones from earlier ones. Generations do not rise over a static
// take-over, and begin anew with a group.
func TestE9TheCountOfTheStampRisesWithEachOwner(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Input.InstanceID = instance
		g.Produce(1)
		_, first := owner(g, "a")
		b, second := owner(g, "b")
		g.UntilSeen(1, kit.Stopped, kit.By("a")) // else it may come back once b is gone
		b.Stop()
		id := instance
		remove(t, g, sarama.MemberIdentity{GroupInstanceId: &id})
		deleteGroup(t, g)
		g.Until("the clock is ahead of the count", func() bool { return time.Now().Unix() > second })
		_, third := owner(g, "c")
		if first <= 0 || second <= first || third <= second {
			g.Errorf("the counts are %d, %d and %d, want them to rise", first, second, third)
		}
	}, everywhere()...)
}

// owner starts a member that takes the partition over, and returns the count of its stamp.
func owner(g *kit.Group, name string) (m *kit.Member, count int64) {
	m = g.Start(name, kit.NewGate().Hold)
	g.UntilSeen(1, kit.Started, kit.By(name))
	s, _ := g.State(0)
	return m, s.Stamp.Count
}
