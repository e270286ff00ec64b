package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
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

// An answer that does not speak of a partition says nothing about it.
func TestACommitThatIsNotAnsweredForIsNoSuccess(t *testing.T) {
	b := newMock(t)
	b.answers["OffsetCommitRequest"] = sarama.NewMockWrapper(&sarama.OffsetCommitResponse{
		Version: 8, Errors: map[string]map[int32]sarama.KError{"report-requests": {1: sarama.ErrNoError}},
	})
	b.answer()
	r := commit.Request{MemberID: "m-1", Generation: 7, Offsets: []commit.Offset{
		{Topic: "report-requests", Partition: 0, Position: member.Position{Offset: 42}},
		{Topic: "report-requests", Partition: 1, Position: member.Position{Offset: 43}},
	}}
	errs, err := b.member(t).Commit(t.Context(), r)
	if err != nil || len(errs) != 2 || errs[0] == nil || errs[1] != nil {
		t.Errorf("answered %v, %v, want an error for the first alone", errs, err)
	}
}

// KIP-345: a static member is known by its instance id. Without it the coordinator could not fence a process that another one has replaced.
func TestRequestsOfAStaticMemberCarryItsInstanceID(t *testing.T) {
	b := newMock(t)
	c := b.consumer(t, func(cfg *consumer.Config) { cfg.Sarama.Consumer.Group.InstanceId = "reports-1" })
	m, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Heartbeat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Commit(t.Context(), commit.Request{MemberID: "m-1", Generation: 7}); err != nil {
		t.Fatal(err)
	}
	for _, r := range requests[*sarama.HeartbeatRequest](b) {
		wantInstance(t, r.GroupInstanceId)
	}
	for _, r := range requests[*sarama.OffsetCommitRequest](b) {
		wantInstance(t, r.GroupInstanceId)
	}
}

func wantInstance(t *testing.T, got *string) {
	t.Helper()
	if got == nil || *got != "reports-1" {
		t.Errorf("the request is that of instance %v, want reports-1", got)
	}
}

// A coordinator that has just taken over answers what it is sure of, which may be older than what was answered as stored before, unless it is
// told to wait (KIP-447). Brokers before 2.5 do not know that, also where Version is newer than they are.
func TestACommitIsReadStable(t *testing.T) {
	for broker, stable := range map[int16]bool{8: true, 7: true, 6: false, 1: false} {
		t.Run(fmt.Sprint("OffsetFetch ", broker), func(t *testing.T) {
			b := newMock(t)
			b.answers["ApiVersionsRequest"] = sarama.NewMockApiVersionsResponse(t).SetApiKeys(upTo(broker))
			b.answer()
			c := b.consumer(t, func(cfg *consumer.Config) { cfg.Sarama.Version, cfg.Sarama.ApiVersionsRequest = sarama.V3_6_0_0, true })
			m, err := c.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if _, err := m.Committed(t.Context(), "report-requests", 0); err != nil {
				t.Fatal(err)
			}
			got := requests[*sarama.OffsetFetchRequest](b)
			if len(got) != 1 || got[0].Version != broker || got[0].RequireStable != stable {
				t.Errorf("sent %+v, want one of version %d with RequireStable %v", got, broker, stable)
			}
		})
	}
}

// upTo are the versions of a broker that knows OffsetFetch up to that one, and everything else.
func upTo(offsetFetch int16) (keys []sarama.ApiVersionsResponseKey) {
	for key := range int16(40) {
		keys = append(keys, sarama.ApiVersionsResponseKey{ApiKey: key, MaxVersion: 20})
	}
	keys[9].MaxVersion = offsetFetch
	return keys
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
	b.answers["DescribeConfigsRequest"] = limits(maxSession, "20000")
	b.answer()
	if got := b.member(t).SessionTimeout(); got > 20*time.Second || got >= unlimited {
		t.Errorf("session timeout %v, want at most 20s", got)
	}
}

// deadlines makes connections that tell how long the answer to a join may take.
type deadlines struct {
	patient
	joins chan time.Duration
}

func (d *deadlines) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &timed{Conn: c, joins: d.joins}, nil
}

type timed struct {
	net.Conn
	joins chan time.Duration
	join  bool
}

func (c *timed) Write(b []byte) (int, error) {
	c.join = len(b) > 5 && b[5] == 11
	return c.Conn.Write(b)
}

func (c *timed) SetReadDeadline(at time.Time) error {
	if c.join && !at.IsZero() {
		c.joins <- time.Until(at)
	}
	return c.Conn.SetReadDeadline(at)
}

// B03: limits that make the timeouts longer make joins longer too, and those that make them shorter, shorter.
func TestJoinsFollowTheLimitsOfTheBroker(t *testing.T) {
	base, err := config.For(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{minSession: "60000", maxSession: "6000"} {
		b, joins := newMock(t), make(chan time.Duration, 100)
		b.answers["DescribeConfigsRequest"] = limits(name, value)
		b.answer()
		m, err := b.consumer(t, func(cfg *consumer.Config) {
			cfg.Plan, cfg.Sarama.Net.Proxy.Enable, cfg.Sarama.Net.Proxy.Dialer = base, true, &deadlines{joins: joins}
		}).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		group, err := m.Link().Coordinator("reports")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := group.JoinGroup(&sarama.JoinGroupRequest{}); err != nil {
			t.Fatal(err)
		}
		want, before := m.Plan().JoinReadTimeout, base.JoinReadTimeout
		if got := <-joins; got > want || got < want-time.Second || want == before {
			t.Errorf("%s=%s: a join may take %v, want %v and not %v as without it", name, value, got, want, before)
		}
	}
}

const (
	minSession = "group.min.session.timeout.ms"
	maxSession = "group.max.session.timeout.ms"
)

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
