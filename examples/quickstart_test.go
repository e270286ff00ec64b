package examples_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

var lastLine = regexp.MustCompile(`^messages=(\d+) handled=(\d+) lost=(\d+) started=(\d+) rebalances=([1-9]\d*) longest_stall=[\d.]+m?s$`)

func TestQuickstart(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"cooperative", "eager"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			wantAllHandled(t, "48", "-protocol", protocol)
		})
	}
}

func TestQuickstartOnKafka(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"cooperative", "eager"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			broker := shared.Kafka(t, kafkatest.Newest).Addrs()[0]
			wantAllHandled(t, "24", "-messages", "24", "-protocol", protocol, "-brokers", broker)
		})
	}
}

// wantAllHandled runs the quickstart to its end. No task runs longer than the plan's grace, so none may be started twice.
func wantAllHandled(t *testing.T, messages string, args ...string) {
	p := start(t, "quickstart", nil, args...)
	p.wantEnd(t, 0)
	got := result(t, p)
	for i, name := range []string{"messages", "handled", "lost", "started"} {
		want := messages
		if name == "lost" {
			want = "0"
		}
		if got[i] != want {
			t.Errorf("%s=%s, want %s:\n%s", name, got[i], want, p.transcript())
		}
	}
}

// result takes the last line apart.
func result(t *testing.T, p *program) []string {
	t.Helper()
	m := lastLine.FindStringSubmatch(p.seen[len(p.seen)-1])
	if m == nil {
		t.Fatalf("the last line is not the result:\n%s", p.transcript())
	}
	return m[1:]
}

func TestQuickstartLeavesNothingOnACluster(t *testing.T) {
	t.Parallel()
	b := kafkatest.Fake(t)
	start(t, "quickstart", nil, "-messages", "4", "-partitions", "2", "-brokers", b.Addrs()[0]).wantEnd(t, 0)
	wantEmpty(t, b)
}

func TestQuickstartStopsInOrder(t *testing.T) {
	t.Parallel()
	b := kafkatest.Fake(t)
	p := start(t, "quickstart", nil, "-brokers", b.Addrs()[0])
	p.await(t, "A, generation")
	p.signal(t, os.Interrupt)
	p.wantEnd(t, 130)
	if !strings.Contains(p.errs.String(), "interrupted: ") {
		t.Errorf("it does not say that it was interrupted:\n%s", p.transcript())
	}
	wantEmpty(t, b)
}

func wantEmpty(t *testing.T, b kafkatest.Broker) {
	t.Helper()
	client, err := sarama.NewClient(b.Addrs(), b.Config())
	must(t, err)
	defer client.Close()
	admin, err := sarama.NewClusterAdminFromClient(client)
	must(t, err)
	topics, err := admin.ListTopics()
	must(t, err)
	groups, err := admin.ListConsumerGroups()
	must(t, err)
	if len(topics)+len(groups) > 0 {
		t.Errorf("it has left topics %v and groups %v", topics, groups)
	}
}

func TestQuickstartGivesUpAtTheLimit(t *testing.T) {
	t.Parallel()
	p := start(t, "quickstart", nil, "-messages", "60", "-partitions", "2", "-limit", "3s")
	p.wantEnd(t, 1)
	if !strings.Contains(p.errs.String(), "time limit") {
		t.Errorf("it does not say why it gave up:\n%s", p.transcript())
	}
	m := regexp.MustCompile(`^messages=60 handled=\d+ lost=[1-9]`).FindString(p.seen[len(p.seen)-1])
	if m == "" {
		t.Errorf("the last line does not count what is missing:\n%s", p.transcript())
	}
}

func TestQuickstartRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-partitions", "0"}, {"-messages", "-1"}, {"-protocol", "range"}, {"-limit", "-1s"}, {"-brokers", "127.0.0.1:1"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			p := start(t, "quickstart", nil, args...)
			p.wantEnd(t, 1)
			if !strings.Contains(p.errs.String(), strings.TrimPrefix(args[0], "-")) {
				t.Errorf("the error does not name %s:\n%s", args[0], p.transcript())
			}
		})
	}
}
