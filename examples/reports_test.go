package examples_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func TestPlainsarama(t *testing.T) {
	t.Parallel()
	b, topic := kafkatest.Fake(t), kafkatest.Name(t)
	must(t, b.CreateTopic(topic, 2))
	wantReports(t, b, topic, "group", "plainsarama",
		"-brokers", b.Addrs()[0], "-group", "group", "-topic", topic, "-expected", "1s")
}

func TestPlainsaramaOnKafka(t *testing.T) {
	t.Parallel()
	b, topic := shared.Kafka(t, kafkatest.Newest), kafkatest.Name(t)
	must(t, b.CreateTopic(topic, 2))
	wantReports(t, b, topic, topic, "plainsarama",
		"-brokers", b.Addrs()[0], "-group", topic, "-topic", topic, "-expected", "1s")
}

func TestHello(t *testing.T) {
	t.Parallel()
	b := kafkatest.Fake(t)
	must(t, b.CreateTopic("report-requests", 2))
	wantReports(t, b, "report-requests", "reports", "hello", b.Addrs()[0])
}

func TestHelloWithoutBrokersNamesTheField(t *testing.T) {
	t.Parallel()
	p := start(t, "hello", nil)
	p.wantEnd(t, 1)
	if !strings.Contains(p.errs.String(), "Config.Brokers") {
		t.Errorf("the error does not name the field:\n%s", p.transcript())
	}
}

// wantReports runs an example that makes reports, and stops it when it has made them all.
func wantReports(t *testing.T, b kafkatest.Broker, topic, group, name string, args ...string) {
	t.Helper()
	must(t, b.Produce(topic, 0, "a", "b"))
	must(t, b.Produce(topic, 1, "c"))
	p := start(t, name, nil, args...)
	awaitAll(t, p, []string{"report for a is ready"}, []string{"report for b is ready"}, []string{"report for c is ready"})
	p.signal(t, syscall.SIGTERM)
	p.wantEnd(t, 0)
	wantCommitted(t, b, group, topic, 2, 1)
	wantLeft(t, b, group)
}

// The program in the README is examples/hello, word for word.
func TestReadmeShowsAProgramThatWorks(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	must(t, err)
	_, rest, _ := strings.Cut(string(readme), "```go\npackage main\n")
	block, _, ok := strings.Cut(rest, "```\n")
	program, err := os.ReadFile("hello/main.go")
	must(t, err)
	if !ok || !strings.HasSuffix(string(program), "\npackage main\n"+block) {
		t.Error("the program in README.md is not that of examples/hello/main.go: copy it from there, without the comment above package main")
	}
}
