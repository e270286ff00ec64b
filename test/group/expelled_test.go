package group_test

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// handful is what B28 calls one, of commit attempts in the name of a dead member.
const handful = 3

// lateSuccess is a handler whose task succeeds when its context ends, just after the membership was lost: the worst moment.
func lateSuccess(g *kit.Gate) handler.Func {
	return func(ctx context.Context, t *handler.Task) error {
		_ = g.Hold(ctx, t)
		return nil
	}
}

// B28.
func TestB28AForgottenMemberDropsItsResultAndJoinsAgain(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g, a, id := expel(t, s, leaveInItsName)
		if now := a.Status().MemberID; now == id {
			g.Errorf("the member still is %s", id)
		}
	}, everywhere()...)
}

// B28. The member is not forgotten, and keeps its id, as every client does.
func TestB28AMemberOfAnEarlierGenerationDropsItsResultAndJoinsAgain(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) { expel(t, s, joinInItsName) }, everywhere()...)
}

// expel makes the coordinator let go of a member in the middle of a task, and returns what the member's id was.
func expel(t *testing.T, s kit.Setting, how func(*testing.T, *kit.Group, *kit.Member)) (g *kit.Group, a *kit.Member, id string) {
	t.Helper()
	g = s.Group(t, 1)
	gate, n := kit.NewGate(), g.AtOnce(3)
	g.Produce(n)
	a = g.Start("a", lateSuccess(gate))
	g.UntilSeen(n, kit.Started)
	g.UntilSeen(1, kit.Committed, kit.AtOffset(0)) // where the group starts
	id = a.Status().MemberID

	begin := g.Expel(a)
	how(t, g, a)
	cancelled := g.UntilSeen(n, kit.Cancelled, kit.Is(handler.ErrLost))[n-1].At
	g.WantWithin("until the task is cancelled", begin, cancelled, g.Plan().HeartbeatInterval+time.Second)

	again := g.UntilSeen(2*n, kit.Started)[n]
	gate.Open()
	g.UntilAllHandled()
	a.Stop()
	g.WantAtMost(0, kit.Committed, kit.From(1), kit.Before(again.At))
	g.WantAtMost(handful, kit.Refused)
	g.WantAtMost(2, kit.Assigned) // one rejoin
	g.WantAtMost(2*n, kit.Started)
	g.WantSound(nil)
	return g, a, id
}

// atCoordinator calls f with the group's coordinator.
func atCoordinator(t *testing.T, g *kit.Group, f func(*sarama.Broker) error) {
	t.Helper()
	conf := g.Broker.Config()
	client, err := sarama.NewClient(g.Broker.Addrs(), conf)
	must(t, err)
	defer client.Close()
	coordinator, err := client.Coordinator(g.Name)
	must(t, err)
	must(t, f(coordinator))
}

// leaveInItsName makes the coordinator forget the member.
func leaveInItsName(t *testing.T, g *kit.Group, m *kit.Member) {
	t.Helper()
	atCoordinator(t, g, func(b *sarama.Broker) error {
		resp, err := b.LeaveGroup(&sarama.LeaveGroupRequest{
			Version: 4, GroupId: g.Name, Members: []sarama.MemberIdentity{{MemberId: m.Status().MemberID}},
		})
		if err == nil && resp.Err != sarama.ErrNoError {
			err = resp.Err
		}
		return err
	})
}

// joinInItsName makes the coordinator begin a generation that the member knows nothing of.
func joinInItsName(t *testing.T, g *kit.Group, m *kit.Member) {
	t.Helper()
	plan, st := g.Plan(), m.Status()
	req := &sarama.JoinGroupRequest{
		Version: 5, GroupId: g.Name, MemberId: st.MemberID, ProtocolType: "consumer",
		SessionTimeout:   int32(plan.SessionTimeout.Milliseconds()),
		RebalanceTimeout: int32(plan.RebalanceTimeout.Milliseconds()),
	}
	must(t, req.AddGroupProtocolMetadata(ours, &sarama.ConsumerGroupMemberMetadata{Topics: []string{g.Topic}}))
	atCoordinator(t, g, func(b *sarama.Broker) error {
		resp, err := b.JoinGroup(req)
		if err == nil && resp.Err != sarama.ErrNoError {
			err = resp.Err
		}
		if err == nil && resp.GenerationId <= st.Generation {
			t.Errorf("generation %d after %d", resp.GenerationId, st.Generation)
		}
		return err
	})
}

// B28, as it happens: the member is frozen for longer than S. The task ends as soon as it is thawed.
func TestB28AFrozenMemberDropsItsResultAndJoinsAgain(t *testing.T) {
	kit.EachOrder(t, thaw, everywhere()...)
}

func thaw(t *testing.T, s kit.Setting) {
	t.Helper()
	g := s.Group(t, 1)
	g.Input.CrashDetection, g.Input.Broker.MinSessionTimeout = 3*time.Second, time.Second
	g.Input.StopGrace = config.NoGrace
	a := g.StartProcess("a", "late success")
	g.UntilSeen(1, kit.Claimed, kit.By("a"))
	gate := kit.NewGate()
	b := g.Start("b", gate.Hold)
	g.UntilSeen(1, kit.Assigned, kit.By("b"))
	n := g.AtOnce(3)
	g.Produce(n)
	g.UntilSeen(n, kit.Started, kit.By("a"))

	begin := a.Freeze()
	g.ExpelledAt("a", begin.Add(g.Plan().SessionTimeout-g.Plan().HeartbeatInterval)) // when it is, at the earliest
	started := g.UntilSeen(n, kit.Started, kit.By("b"))[n-1]
	g.WantWithin("until the other runs the task", begin, started.At, g.Plan().SessionTimeout+g.Plan().RebalanceTimeout)
	a.Open()
	thawed := a.Thaw()
	g.UntilSeen(n, kit.Returned, kit.By("a"), kit.After(thawed))
	lost := g.UntilSeen(1, kit.Ended, kit.By("a"), kit.Saying("membership lost"))[0]
	g.UntilSeen(1, kit.Assigned, kit.By("a"), kit.After(lost.At))
	g.WantAtMost(0, kit.Committed, kit.By("a"), kit.From(1))
	g.WantAtMost(handful, kit.Refused, kit.By("a"))
	if o := g.Committed(0); o > 0 {
		g.Errorf("committed at %d, want 0", o)
	}
	gate.Open()
	g.UntilAllHandled()
	b.Stop()
	a.Stop()
	g.WantSound(nil)
}
