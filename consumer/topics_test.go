package consumer_test

import (
	"bytes"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// everything makes a member that consumes all topics.
func (b *mock) everything(t *testing.T) *consumer.Member {
	t.Helper()
	m, err := b.consumer(t, func(cfg *consumer.Config) { cfg.Topics, cfg.TopicPattern = nil, regexp.MustCompile("") }).Open(t.Context())
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
