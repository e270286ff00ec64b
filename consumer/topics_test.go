package consumer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// everything makes a member that consumes all topics.
func (b *mock) everything(t *testing.T) *consumer.Member {
	t.Helper()
	m, err := b.consumer(t, func(cfg *consumer.Config) { cfg.Topics, cfg.TopicPattern = nil, regexp.MustCompile(".") }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// cluster is an answer in which the topics exist.
func (b *mock) cluster(topics ...string) sarama.MockResponse {
	m := sarama.NewMockMetadataResponse(nil).SetBroker(b.Addr(), b.BrokerID()).SetController(b.BrokerID())
	for _, topic := range topics {
		m.SetLeader(topic, 0, b.BrokerID())
	}
	return m
}

// sees makes the broker give these answers, one after the other, and the last one from then on.
func (b *mock) sees(answers ...any) {
	b.answers["MetadataRequest"] = sarama.NewMockSequence(answers...)
	b.answer()
}

func wantTopics(t *testing.T, m *consumer.Member, want ...string) {
	t.Helper()
	got, err := m.Topics(t.Context())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("topics %v, %v, want %v", got, err, want)
	}
}

func TestAPatternLeavesInternalTopicsOut(t *testing.T) {
	b := newMock(t)
	b.sees(b.cluster("__consumer_offsets", "_a", "b"))
	wantTopics(t, b.everything(t), "_a", "b")
}

// A broker that has just started may not know all topics. A session that ends or begins for what it says would give partitions up.
func TestOneAnswerDoesNotChangeTheTopicsOfAPattern(t *testing.T) {
	t.Parallel()
	b := newMock(t)
	all, less := b.cluster("a", "b"), b.cluster("a")
	b.sees(all)
	m := b.everything(t)
	wantTopics(t, m, "a", "b")
	b.sees(less, all)
	wantTopics(t, m, "a", "b")
	b.sees(less, less, all)
	wantTopics(t, m, "a", "b")
	b.sees(less)
	wantTopics(t, m, "a")
	wantTopics(t, m, "a")
}

// A member that begins a new session has nothing in the eyes of the balancer. When others do the same, its partitions may go to them.
func TestAChangeOfTheTopicsWaitsForAGroupAtRest(t *testing.T) {
	t.Parallel()
	b := newMock(t)
	b.answers["HeartbeatRequest"] = sarama.NewMockHeartbeatResponse(t).SetError(sarama.ErrRebalanceInProgress)
	b.sees(b.cluster("a", "b"))
	p, err := config.Input{Expected: time.Minute, MetadataRefresh: 100 * time.Millisecond}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.consumer(t, func(cfg *consumer.Config) {
		cfg.Plan, cfg.Topics, cfg.TopicPattern = p, nil, regexp.MustCompile(".")
	}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	wantTopics(t, m, "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- m.WatchTopics(ctx, []string{"a"}) }() // ends with ctx
	eventually(t, "it asks whether the group is at rest", func() bool { return len(requests[*sarama.HeartbeatRequest](b)) > 1 })
	select {
	case err := <-ended:
		t.Fatalf("the session has ended in a rebalance: %v", err)
	default:
	}
	b.answers["HeartbeatRequest"] = sarama.NewMockHeartbeatResponse(t)
	b.answer()
	if err := <-ended; !errors.Is(err, handler.ErrRevoked) {
		t.Errorf("the session has ended with %v", err)
	}
}

// A topic that the member wants is missed for as long as it is missing, be it that only the group's leader asks for topics again.
func TestAWantedTopicIsMissedForAsLongAsItIsMissing(t *testing.T) {
	t.Parallel()
	b := newMock(t)
	p, err := config.Input{Expected: time.Minute, MetadataRefresh: 100 * time.Millisecond}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	c := b.consumer(t, func(cfg *consumer.Config) { cfg.Plan, cfg.Topics = p, append(cfg.Topics, "gone") })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }() // ends with ctx
	missed := func() bool { return slices.Equal(c.Status().Missing, []string{"gone"}) }
	eventually(t, "it is missed", missed)
	asked := len(requests[*sarama.MetadataRequest](b))
	eventually(t, "the cluster is asked some times more", func() bool { return len(requests[*sarama.MetadataRequest](b)) > asked+15 })
	if !missed() {
		t.Errorf("missing: %v", c.Status().Missing)
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

// What to do about a missing topic depends on who wants it.
func TestAMissingTopicIsToldWithWhatToDo(t *testing.T) {
	for topic, says := range map[string]string{
		"report-requests": "remove it from Config.Topics", "bills-7": "Config.TopicPattern", "__bills-7": "another member", "other": "another member",
	} {
		var out bytes.Buffer
		c := newConsumer(t, func(cfg *consumer.Config) {
			cfg.TopicPattern, cfg.Logger = regexp.MustCompile("bills-"), slog.New(slog.NewTextHandler(&out, nil))
		})
		c.SetTopicMissing(topic)
		if !strings.Contains(out.String(), says) || strings.Contains(out.String(), "Config.Topics") != (topic == "report-requests") {
			t.Errorf("%s: told %q, want something with %q", topic, &out, says)
		}
	}
}
