package ownership_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// E3. The member has joined a round of which it never hears the assignment, and another one had its partition in that generation. What
// counts is the last assignment that was received, not the last join. Where the other one has left no trace nothing else tells.
func TestE3AMissedGenerationIsNoProof(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, r, a := missed(t, s)
		r.give(a.Status().MemberID)
		again := g.UntilSeen(2, kit.Started, kit.By("a"))[1]
		g.WantAtMost(0, kit.Cancelled, kit.After(again.At))
		g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.AtOffset(0))
		g.gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(2, kit.Started, kit.By("a"), kit.AtOffset(0))
		g.WantSound(nil)
	}, everywhere()...)
}

// E3. The other one has done the first message, and said so.
func TestE3AMissedGenerationIsNoProofAgainstACommit(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g, r, a := missed(t, s, 1)
		r.give(a.Status().MemberID)
		g.UntilSeen(1, kit.Started, kit.By("a"), kit.AtOffset(1))
		g.UntilSeen(1, kit.Cancelled, kit.By("a"), kit.AtOffset(0))
		g.gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(1, kit.Started, kit.By("a"), kit.AtOffset(0))
		g.WantSound(nil)
	}, everywhere()...)
}

// E3. A cooperative session lives through such a round: what a member reports that it owns is given to nobody before the member has let it go.
func TestE3ALiveSessionOutlivesAMissedGeneration(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := ledByOthers(t, s, 1)
		g.Produce(2)
		gate, w := kit.NewGate(), newWire()
		r, a := led(t, g, terms{}, gate.Hold, w.member(g))
		w.hold(syncGroup)
		r.join()
		r.give("nobody")
		lateSync(r, w)
		r.give(a.Status().MemberID)
		g.UntilSeen(2, kit.Assigned, kit.By("a"))
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		g.WantAtMost(0, kit.Cancelled)
		g.WantAtMost(2, kit.Started)
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}

// gated is a group with the gate of its tasks.
type gated struct {
	*kit.Group
	gate *kit.Gate
}

// missed lets the rival have the partition in a round in which the member's sync comes too late, commit what it is told, and begin the next
// round, which it has to end. The member begins a session of its own accord: to a cooperative leader it then owns nothing.
func missed(t *testing.T, s kit.Setting, commits ...int64) (g gated, r *rival, a *kit.Member) {
	t.Helper()
	g = gated{ledByOthers(t, s, 1), kit.NewGate()}
	g.Input.MetadataRefresh = 200 * time.Millisecond
	g.Produce(2)
	w := newWire()
	r, a = led(t, g.Group, terms{}, g.gate.Hold, w.member(g.Group), anyTopic(g.Group))
	w.hold(syncGroup)
	must(t, g.Broker.CreateTopic(g.Topic+"-more", 1))
	r.awaitCall()
	r.join()
	g.Expel(a) // which does not hear of it
	r.give(r.id)
	r.handle(0)()
	for _, o := range commits {
		r.commit(o, rivals)
	}
	lateSync(r, w)
	return g, r, a
}

// lateSync begins another round, lets the sync arrive that is held, and joins that round, which is to be ended.
func lateSync(r *rival, w *wire) {
	r.Helper()
	joined := r.beginJoin()
	r.awaitCall()
	w.pass(syncGroup)
	joined()
}

// anyTopic makes a member's session begin anew when there is one more topic.
func anyTopic(g *kit.Group) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Topics, c.TopicPattern = nil, regexp.MustCompile("^"+regexp.QuoteMeta(g.Topic)+"(-more)?$")
	}
}
