package consumer_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// mock is a broker that answers as the test says, and the configuration of a consumer that uses it.
type mock struct {
	*sarama.MockBroker
	answers map[string]sarama.MockResponse
}

// newMock makes a broker that is the coordinator of the group, and gives whoever joins the one partition of the topic.
func newMock(t *testing.T) *mock {
	t.Helper()
	const group, topic = "reports", "report-requests"
	b := &mock{MockBroker: sarama.NewMockBroker(t, 1)}
	t.Cleanup(b.Close)
	b.answers = map[string]sarama.MockResponse{
		"MetadataRequest": sarama.NewMockMetadataResponse(t).SetBroker(b.Addr(), b.BrokerID()).SetController(b.BrokerID()).
			SetLeader(topic, 0, b.BrokerID()),
		"FindCoordinatorRequest": sarama.NewMockFindCoordinatorResponse(t).SetCoordinator(sarama.CoordinatorGroup, group, b.MockBroker),
		"JoinGroupRequest":       sarama.NewMockJoinGroupResponse(t).SetGroupProtocol("evenkeel").SetMemberId("m-1").SetLeaderId("m-2"),
		"SyncGroupRequest": sarama.NewMockSyncGroupResponse(t).SetMemberAssignment(
			&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{topic: {0}}}),
		"HeartbeatRequest":    sarama.NewMockHeartbeatResponse(t),
		"LeaveGroupRequest":   sarama.NewMockLeaveGroupResponse(t),
		"OffsetFetchRequest":  sarama.NewMockOffsetFetchResponse(t).SetOffset(group, topic, 0, 0, "", sarama.ErrNoError),
		"OffsetCommitRequest": sarama.NewMockOffsetCommitResponse(t),
		"OffsetRequest": sarama.NewMockOffsetResponse(t).SetOffset(topic, 0, sarama.OffsetOldest, 0).
			SetOffset(topic, 0, sarama.OffsetNewest, 10),
		"DescribeConfigsRequest": limits("", ""),
	}
	b.answer()
	return b
}

// answer makes the broker answer as b.answers says. A kind of request that is not there is left without an answer.
func (b *mock) answer() { b.SetHandlerByMap(b.answers) }

// limits are settings of a broker.
func limits(name, value string) sarama.MockResponse {
	return sarama.NewMockWrapper(&sarama.DescribeConfigsResponse{Version: 4, Resources: []*sarama.ResourceResponse{{
		Type: sarama.BrokerResource, Name: "1", Configs: []*sarama.ConfigEntry{{Name: name, Value: value}},
	}}})
}

// consumer is one that uses the broker.
func (b *mock) consumer(t *testing.T, change func(*consumer.Config)) *consumer.Consumer {
	t.Helper()
	return newConsumer(t, func(c *consumer.Config) {
		c.Brokers, c.Sarama = []string{b.Addr()}, sarama.NewConfig()
		c.Sarama.Version, c.Sarama.ApiVersionsRequest = sarama.V2_8_1_0, false
		if change != nil {
			change(c)
		}
	})
}

// member is the way to the broker that such a consumer makes.
func (b *mock) member(t *testing.T) *consumer.Member {
	t.Helper()
	m, err := b.consumer(t, nil).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// requests returns the requests of a kind that the broker has got.
func requests[R any](b *mock) (list []R) {
	for _, one := range b.History() {
		if r, ok := any(one.Request).(R); ok {
			list = append(list, r)
		}
	}
	return list
}

// eventually waits for a condition that has to come.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// patient makes connections whose silence no timeout ends.
type patient struct{ net.Dialer }

func (p *patient) Dial(network, addr string) (net.Conn, error) {
	return p.DialContext(context.Background(), network, addr)
}

func (p *patient) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := p.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &untimed{c}, nil
}

type untimed struct{ net.Conn }

func (*untimed) SetReadDeadline(time.Time) error { return nil }
func (*untimed) SetDeadline(time.Time) error     { return nil }
