package group_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// G3. sarama tells a member that stops nothing of a rebalance; it has given its tasks a long grace.
func TestAStoppingMemberDoesNotHoldUpARebalance(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.StopGrace, g.Input.Grace, g.Input.CrashDetection = 40*time.Second, config.NoGrace, 90*time.Second
		g.Produce(2)
		a := g.Start("a", kit.NewGate().Hold)
		g.UntilSeen(2, kit.Started)
		a.BeginStop()
		g.UntilSeen(1, kit.Logged, kit.Saying("stopping"))

		begin := g.Note("b comes")
		b := g.Start("b", instant)
		started := g.UntilSeen(1, kit.Started, kit.By("b"))[0]
		p := g.Plan()
		g.WantWithin("until the newcomer works", begin, started.At, p.Grace+p.HeartbeatInterval+time.Second)
		g.UntilSeen(2, kit.Cancelled, kit.By("a"), kit.Is(handler.ErrRevoked))
		a.AwaitStop()
		g.UntilAllHandled()
		b.Stop()
		wantNeverExpelled(g)
	}, everywhere()...)
}

// B03. The broker's limits make timeouts shorter, and with them the grace: a member that took its time would be removed.
func TestTheGraceFollowsTheLimitsOfTheBroker(t *testing.T) {
	const most = 6 * time.Second
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Input.CrashDetection = 0
		limited, err := g.Plan().WithBroker(config.BrokerLimits{MaxSessionTimeout: most})
		must(t, err)
		if limited.Grace+2*kit.Slack > g.Plan().Grace {
			t.Fatalf("the grace is %v with limits and %v without", limited.Grace, g.Plan().Grace)
		}
		g.Produce(2)
		gate := kit.NewGate()
		a := g.Start("a", gate.Ignore)
		g.UntilSeen(2, kit.Started)
		b := g.Start("b", gate.Hold)
		cancelled := g.UntilSeen(1, kit.Cancelled, kit.By("a"))[0]
		released := g.UntilSeen(1, kit.Released, kit.By("a"))[0]
		g.WantWithin("until the claim is given up", cancelled.At, released.At, limited.Grace)
		gate.Open()
		g.UntilAllHandled()
		a.Stop()
		b.Stop()
		wantNeverExpelled(g)
	}, kit.Quietly([]kit.Place{kit.At("kfake", kafkatest.Fake(t, limitedTo(most)))})...)
}

func limitedTo(session time.Duration) kfake.Opt {
	return kfake.BrokerConfigs(map[string]string{"group.max.session.timeout.ms": strconv.Itoa(int(session.Milliseconds()))})
}
