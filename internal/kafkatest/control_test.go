package kafkatest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func TestNodeComesBackWithItsDataAndAddress(t *testing.T) {
	n := shared.Kafka(t, kafkatest.Oldest)
	topic, group, addr := kafkatest.Name(t), kafkatest.Name(t), n.Addr()
	must(t, n.CreateTopic(topic, 1))
	downs := map[string]func() error{
		"killed":            n.Kill,
		"stopped":           func() error { return n.Stop(t.Context()) },
		"killed, if paused": func() error { must(t, n.Pause()); return n.Kill() },
	}
	produced := int64(0)
	for how, down := range downs {
		must(t, n.Produce(topic, 0, "x"))
		produced++
		must(t, n.Commit(group, topic, 0, produced, how))
		must(t, down())
		if n.PID() != 0 || answers(n) {
			t.Errorf("a node that was %s still runs", how)
		}
		must(t, n.Start(t.Context()))
		if end, err := n.EndOffset(topic, 0); err != nil || end != produced || n.Addr() != addr {
			t.Errorf("a node that was %s ends at %d, want %d: %v", how, end, produced, err)
		}
		wantCommitted(t, n, group, topic, 0, produced, how)
	}
}

func TestANodeThatEndsByItselfIsTold(t *testing.T) {
	n := shared.Kafka(t, kafkatest.Oldest)
	if err := n.Died(); err != nil {
		t.Error(err)
	}
	proc, err := os.FindProcess(n.PID())
	must(t, err)
	must(t, proc.Kill()) // by nobody that the node knows of
	for n.PID() != 0 {
		time.Sleep(10 * time.Millisecond)
	}
	log, err := n.Log()
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	last := lines[len(lines)-1]
	if err := n.Died(); err == nil || !strings.Contains(err.Error(), "killed") || !strings.Contains(err.Error(), last) {
		t.Errorf("the node is said to have ended by %v\nwant its log in it up to %q", err, last)
	}
	must(t, n.Kill())
	if err := n.Died(); err != nil {
		t.Error(err)
	}
	must(t, n.Start(t.Context()))
}

func TestPausedNodeAnswersWhenItIsResumed(t *testing.T) {
	n := shared.Kafka(t, kafkatest.Newest)
	must(t, n.Pause())
	if answers(n) {
		t.Error("a paused node answers")
	}
	must(t, n.Resume())
	if !answers(n) {
		t.Error("a resumed node does not answer")
	}
}

// answers says whether the node answers one request.
func answers(n *kafkatest.Node) bool {
	cfg := n.Config()
	cfg.ApiVersionsRequest = false
	cfg.Net.ReadTimeout = 500 * time.Millisecond // long for a node that answers in a millisecond
	broker := sarama.NewBroker(n.Addr())
	if err := broker.Open(cfg); err != nil {
		return false
	}
	defer broker.Close()
	_, err := broker.ApiVersions(&sarama.ApiVersionsRequest{})
	return err == nil
}

func TestClusterSurvivesItsCoordinator(t *testing.T) {
	c := shared.Cluster(t)
	for how, down := range map[string]func(*kafkatest.Node) (back func() error, err error){
		"killed": func(n *kafkatest.Node) (func() error, error) {
			return func() error { return n.Start(t.Context()) }, n.Kill()
		},
		"paused": func(n *kafkatest.Node) (func() error, error) { return n.Resume, n.Pause() },
	} {
		t.Run(how, func(t *testing.T) {
			topic, group := kafkatest.Name(t), kafkatest.Name(t)
			must(t, c.CreateTopic(topic, 1))
			must(t, c.Commit(group, topic, 0, 7, ""))
			first, err := c.Coordinator(group)
			must(t, err)
			back, err := down(first)
			must(t, err)
			for now := first; now == first; {
				now, err = c.Coordinator(group)
				must(t, err)
			}
			// 4.4.0 reads a new coordinator's state at the high watermark: until the followers have caught up, the last commits
			// are not there, without an error.
			for offset := int64(-1); offset != 7; {
				offset, _, err = c.Committed(group, topic, 0)
				must(t, err)
			}
			must(t, c.Produce(topic, 0, "x"))
			must(t, back())
		})
	}
}

func TestLeaderMoves(t *testing.T) {
	c := shared.Cluster(t)
	topic := kafkatest.Name(t)
	must(t, c.CreateTopic(topic, 3))
	for _, n := range c.Nodes() {
		must(t, c.MoveLeader(topic, 1, n))
		leader, err := c.Leader(topic, 1)
		must(t, err)
		if leader != n {
			t.Errorf("node %d leads, want %d", leader.ID(), n.ID())
		}
	}
}
