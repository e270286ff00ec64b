package consumer_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/member"
)

// A leader epoch that is given as 0, and not as unknown, may read as a truncated log to a Java consumer that takes the group over.
func TestCommitsLeaveTheLeaderEpochUnknown(t *testing.T) {
	b := newMock(t)
	r := commit.Request{MemberID: "m-1", Generation: 7, Offsets: []commit.Offset{{Topic: "report-requests", Partition: 0, Position: member.Position{Offset: 42, Metadata: "text"}}}}
	errs, err := b.member(t).Commit(t.Context(), r)
	if err != nil || len(errs) != 1 || errs[0] != nil {
		t.Fatalf("answered %v, %v", errs, err)
	}
	want := &sarama.OffsetCommitRequest{Version: 8, ConsumerGroup: "reports", ConsumerID: "m-1", ConsumerGroupGeneration: 7}
	want.AddBlockWithLeaderEpoch("report-requests", 0, 42, -1, 0, "text")
	if got := requests[*sarama.OffsetCommitRequest](b); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("sent %+v, want %+v and a leader epoch of -1", got[0], want)
	}
}

// G4: our own heartbeats may be the first to hear that the coordinator has moved.
func TestAHeartbeatFollowsTheCoordinator(t *testing.T) {
	b, other := newMock(t), newMock(t)
	b.answers["HeartbeatRequest"] = sarama.NewMockHeartbeatResponse(t).SetError(sarama.ErrNotCoordinatorForConsumer)
	b.answer()
	m := b.member(t)
	b.answers["FindCoordinatorRequest"] = other.answers["FindCoordinatorRequest"]
	b.answer()
	if err := m.Heartbeat(t.Context()); !errors.Is(err, sarama.ErrNotCoordinatorForConsumer) {
		t.Fatalf("the first heartbeat: %v", err)
	}
	if err := m.Heartbeat(t.Context()); err != nil {
		t.Errorf("the second heartbeat: %v", err)
	}
	if n := len(requests[*sarama.HeartbeatRequest](other)); n != 1 {
		t.Errorf("the new coordinator got %d heartbeats, want 1", n)
	}
}

// B03: what a broker tells of its limits is worked into the plan; one that tells nothing leaves it as it is.
func TestLimitsOfTheBrokerAreRead(t *testing.T) {
	unlimited := newMock(t).member(t).SessionTimeout()
	if want := plan(t).SessionTimeout; unlimited != want {
		t.Errorf("session timeout %v without limits, want %v", unlimited, want)
	}
	b := newMock(t)
	b.answers["DescribeConfigsRequest"] = limits("group.max.session.timeout.ms", "20000")
	b.answer()
	if got := b.member(t).SessionTimeout(); got > 20*time.Second || got >= unlimited {
		t.Errorf("session timeout %v, want at most 20s", got)
	}
}

// What the lease asks is whether sarama's join is out.
func TestAJoinIsSeenByTheLease(t *testing.T) {
	b := newMock(t)
	delete(b.answers, "JoinGroupRequest")
	b.answer()
	m := b.member(t)
	group, err := m.Link().Coordinator("reports")
	if err != nil {
		t.Fatal(err)
	}
	if m.Joining() {
		t.Error("joining before the join")
	}
	joined := make(chan error, 1)
	go func() { // ends when the member is closed
		_, err := group.JoinGroup(&sarama.JoinGroupRequest{})
		joined <- err
	}()
	eventually(t, "the join is out", m.Joining)
	_ = m.Close()
	if err := <-joined; err == nil || m.Joining() {
		t.Errorf("the join ended with %v, joining %v", err, m.Joining())
	}
}

// G10: what hangs in sarama's own connections when no task runs any more is cut, be it a fetch that no timeout ends.
func TestAStopCutsAFetchThatHangs(t *testing.T) {
	b := newMock(t)
	c := b.consumer(t, func(cfg *consumer.Config) {
		cfg.Sarama.Net.Proxy.Enable, cfg.Sarama.Net.Proxy.Dialer = true, &patient{}
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }() // ends with ctx
	eventually(t, "a fetch is out", func() bool { return len(requests[*sarama.FetchRequest](b)) > 0 })
	stop()
	select {
	case err := <-ran:
		if err != nil {
			t.Errorf("Run returned %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Run has not returned")
	}
	if n := len(requests[*sarama.LeaveGroupRequest](b)); n != 1 {
		t.Errorf("left the group %d times, want 1", n)
	}
}
