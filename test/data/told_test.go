package data_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B46. From one member to three and back, with a task in flight on every partition.
func TestB46OrdinaryRebalancesAreNoErrors(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 6)
		g.Input.StopGrace = config.NoGrace
		g.Produce(2)
		gate := kit.NewGate()
		all := []*kit.Member{g.Start("a", gate.Hold)}
		g.UntilSeen(6, kit.Started)
		for i, name := range []string{"b", "c"} {
			all = append(all, g.Start(name, gate.Hold))
			g.Until("all share", func() bool { return working(all, 6/(i+2)) })
		}
		for i := 2; i > 0; i-- {
			all[i].Stop()
			g.Until("the rest share", func() bool { return working(all[:i], 6/i) })
		}
		gate.Open()
		g.UntilAllHandled()
		all[0].Stop()
		g.WantAtMost(0, kit.Troubled)
		g.WantAtMost(0, kit.Logged, kit.Saying("ERROR"))
		for _, m := range all {
			wantEntries(g, m)
		}
	}, everywhere()...)
}

// working says that each member works on that many partitions.
func working(all []*kit.Member, each int) bool {
	for _, m := range all {
		if m.Status().Running != each {
			return false
		}
	}
	return true
}

// wantEntries wants one info entry for each assignment of a member, and what was gained and lost to add up.
func wantEntries(g *kit.Group, m *kit.Member) {
	entries := g.Find(kit.Logged, kit.By(m.Name), kit.Saying("INFO rebalance"))
	assigned := g.Find(kit.Assigned, kit.By(m.Name))
	if len(entries) != len(assigned) || m.Status().Rebalances != len(assigned) {
		g.Fatalf("%s has %d entries and counts %d rebalances, want %d", m.Name, len(entries), m.Status().Rebalances, len(assigned))
	}
	held := 0
	for i, e := range entries {
		if !strings.Contains(e.Text, "generation="+strconv.Itoa(int(assigned[i].Generation))+" ") {
			g.Errorf("entry %d of %s is not of generation %d: %s", i, m.Name, assigned[i].Generation, e.Text)
		}
		held += partitions(e.Text, "gained") - partitions(e.Text, "lost")
		if want := " partitions=" + strconv.Itoa(held); !strings.Contains(e.Text+" ", want+" ") {
			g.Errorf("entry %d of %s does not have%s: %s", i, m.Name, want, e.Text)
		}
	}
}

// partitions counts those that an attribute of an entry lists: topic[0 1 2].
func partitions(entry, attr string) int {
	_, list, _ := strings.Cut(entry, " "+attr+"=")
	_, list, listed := strings.Cut(strings.SplitN(list, "=", 2)[0], "[")
	list, _, _ = strings.Cut(list, "]")
	if !listed {
		return 0
	}
	return len(strings.Fields(list))
}

// B46. Each way in which a session ends is told as what it is, to the hook and in the log.
func TestB46EndsOfSessionsAreToldApart(t *testing.T) {
	t.Parallel()
	type ending struct {
		how  func(t *testing.T, g *kit.Group, b *kafkatest.LinkedFake, m *kit.Member)
		kind string
	}
	for name, end := range map[string]ending{
		"rebalance": {joinBeside, "rebalance"},
		"lost":      {cutOff, "membership lost"},
		"stop":      {func(_ *testing.T, _ *kit.Group, _ *kafkatest.LinkedFake, m *kit.Member) { m.Stop() }, "stop"},
		"claim":     {breakClaim, "claim failed"},
	} {
		for protocol, eager := range map[string]bool{"eager": true, "cooperative": false} {
			if name == "rebalance" && !eager {
				continue // the session lives on
			}
			t.Run(name+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				b := kafkatest.FakeLinked(t)
				g := kit.Setting{Broker: b, Eager: eager}.Group(t, 2)
				m := g.Start("a", instant, behind(b.Link("a"), nothing))
				g.UntilSeen(2, kit.Claimed)
				end.how(t, g, b, m)
				g.UntilSeen(1, kit.Ended, kit.By("a"), kit.Saying(end.kind))
				g.UntilSeen(1, kit.Logged, kit.By("a"), kit.Saying("session ended"), kit.Saying("kind="+end.kind))
			})
		}
	}
}

func joinBeside(_ *testing.T, g *kit.Group, _ *kafkatest.LinkedFake, _ *kit.Member) {
	g.Start("b", instant)
}

// cutOff takes a member off the network for longer than its lease.
func cutOff(t *testing.T, g *kit.Group, b *kafkatest.LinkedFake, _ *kit.Member) {
	t.Helper()
	l := b.Link("a")
	l.Cut()
	defer func() {
		if err := l.Restore(); err != nil {
			t.Fatal(err)
		}
	}()
	lost := g.Note("cut off")
	e := g.UntilSeen(1, kit.Ended, kit.By("a"))[0]
	g.WantWithin("until the session ends", lost, e.At, g.Plan().Lease)
}

// breakClaim makes the next claim fail to start: the broker does not say where its log begins.
func breakClaim(_ *testing.T, g *kit.Group, b *kafkatest.LinkedFake, m *kit.Member) {
	other := g.Start("b", instant)
	g.Until("each owns one", func() bool { return len(m.Owns()) == 1 && len(other.Owns()) == 1 })
	b.Cluster.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.Cluster.KeepControl()
		return refuseOffsets(r.(*kmsg.ListOffsetsRequest)), nil, true
	})
	other.Stop()
}

func refuseOffsets(r *kmsg.ListOffsetsRequest) *kmsg.ListOffsetsResponse {
	answer := r.ResponseKind().(*kmsg.ListOffsetsResponse)
	for _, topic := range r.Topics {
		t := kmsg.NewListOffsetsResponseTopic()
		t.Topic = topic.Topic
		for _, partition := range topic.Partitions {
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition, p.ErrorCode = partition.Partition, kerr.UnknownServerError.Code
			t.Partitions = append(t.Partitions, p)
		}
		answer.Topics = append(answer.Topics, t)
	}
	return answer
}
