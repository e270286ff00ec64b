package moves_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

const (
	cooperativeSticky = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
	rangeAssignor     = "org.apache.kafka.clients.consumer.RangeAssignor"
)

// alsoSticky offers what a Java consumer offers.
func alsoSticky(c *consumer.Config) {
	c.OfferAlso = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
}

// java starts a Java consumer in the group.
func java(t *testing.T, g *kit.Group, node *kafkatest.Node, assignor string) *kafkatest.JavaConsumer {
	t.Helper()
	j, err := node.JavaConsumer(g.Name, g.Topic, "partition.assignment.strategy="+assignor, "auto.commit.interval.ms=100")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Stop() })
	return j
}

// A Java consumer with the CooperativeStickyAssignor shares a group with ours that offer it as well; when it leaves, ours have all again.
func TestAJavaConsumerSharesTheGroup(t *testing.T) {
	t.Parallel()
	node := shared.Kafka(t, kit.Version())
	g := group(t, kit.Setting{Broker: node}, 4)
	a := g.Start("a", lasts(0), alsoSticky)
	g.Until("ours has all", func() bool { return len(a.Owns()) == 4 })
	j := java(t, g, node, cooperativeSticky)
	g.Until("it has its share", func() bool { return len(a.Owns()) == 2 })
	g.Until("the group has the strategy that both offer", func() bool {
		d, err := node.Group(g.Name)
		return err == nil && d.Protocol == "cooperative-sticky" && d.State == "Stable" && len(d.Members) == 2
	})
	for p := range int32(4) {
		if err := node.Produce(g.Topic, p, fmt.Sprint("message-", p)); err != nil {
			t.Fatal(err)
		}
	}
	g.Until("each has had its own", func() bool { return g.Count(kit.Started) == 2 && strings.Count(j.Output(), "message-") == 2 })
	if err := j.Stop(); err != nil {
		t.Error(err)
	}
	g.Until("ours has all again", func() bool { return len(a.Owns()) == 4 })
	if n := g.Count(kit.Started); n != 2 {
		g.Errorf("%d starts in ours, want 2: the others are done", n)
	}
}

// One that offers range alone is refused, says so, and disturbs nobody; the same holds the other way round.
func TestAJavaConsumerWithAnotherAssignorIsRefused(t *testing.T) {
	t.Parallel()
	node := shared.Kafka(t, kit.Version())
	g := group(t, kit.Setting{Broker: node}, 4)
	g.Produce(2)
	a := team(g, 1)[0]
	g.UntilSeen(4, kit.Started)
	j := java(t, g, node, rangeAssignor)
	g.Until("it gives up", j.Ended)
	if out := j.Output(); !strings.Contains(out, "InconsistentGroupProtocolException") {
		g.Errorf("it said %s", out)
	}
	g.UntilAllHandled()
	wantUninterrupted(g, 8)
	g.WantAtMost(1, kit.Assigned, kit.By("a"))
	a.Stop()

	h := group(t, kit.Setting{Broker: node}, 4)
	java(t, h, node, rangeAssignor)
	h.Until("it has all", func() bool {
		d, err := node.Group(h.Name)
		return err == nil && d.State == "Stable"
	})
	b := h.Start("b", lasts(0))
	<-b.Done()
	var fatal *consumer.FatalError
	if err := b.Err(); !errors.As(err, &fatal) || !strings.Contains(fatal.Remedy, "Config.OfferAlso") {
		h.Errorf("Run returned %v", err)
	}
}

// E19. A member of the newer protocol (KIP-848) would take a classic group over whose assignments say nothing: ours say something to each.
func TestAMemberOfTheNewerProtocolIsRefused(t *testing.T) {
	t.Parallel()
	node := shared.Kafka(t, kit.Version())
	g := group(t, kit.Setting{Broker: node}, 4)
	g.Produce(2)
	idle := g.Start("idle", lasts(taskTime))
	g.Until("it has all", func() bool { return len(idle.Owns()) == 4 })
	team(g, 2)
	g.UntilSeen(4, kit.Started)
	j, err := node.JavaConsumer(g.Name, g.Topic, "group.protocol=consumer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Stop() })
	g.Until("it gives up", j.Ended)
	if out := j.Output(); !strings.Contains(out, "Cannot upgrade classic group") {
		g.Errorf("it said %s", out)
	}
	g.Until("the group is what it was", func() bool {
		d, err := node.Group(g.Name)
		return err == nil && d.Protocol == "evenkeel" && d.State == "Stable" && len(d.Members) == 3
	})
	g.UntilAllHandled()
	wantUninterrupted(g, 8)
}

// The two steps by which a group moves from cooperative-sticky to our strategy, and back, lose nothing.
func TestAGroupMovesToOurStrategyAndBack(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s, 4)
		old := func(c *consumer.Config) {
			c.Sarama.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
		}
		g.Produce(40)
		work := lasts(taskTime / 8)
		members := []*kit.Member{g.Start("a0", work, old), g.Start("b0", work, old)}
		for step, with := range []func(*consumer.Config){alsoSticky, func(*consumer.Config) {}, alsoSticky, old} {
			for i, name := range []string{"a", "b"} {
				untilBalanced(g, members...)
				members[i].Stop()
				members[i] = g.Start(fmt.Sprint(name, step+1), work, with)
			}
			untilBalanced(g, members...)
			want := "evenkeel"
			if step == 3 {
				want = "cooperative-sticky"
			}
			g.Until(fmt.Sprintf("after step %d the group has %s", step+1, want), func() bool { // none in the middle of a round
				d, err := g.Broker.Group(g.Name)
				return err == nil && d.Protocol == want
			})
		}
		g.UntilAllHandled()
		g.WantSound(nil)
	}, kit.Quietly(everywhere())...)
}
