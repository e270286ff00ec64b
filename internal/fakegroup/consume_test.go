package fakegroup_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// consumer_group_session.go:91-135, 346-375.
func TestASessionRunsFromSetupToCleanup(t *testing.T) {
	eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
		c := newCluster(1)
		c.Produce(topic, 0, nil, []byte("a"))
		m := join(t, c, config(), &recorder{})
		pass(2 * time.Second)
		wantCommitted(t, c, 0, 1)
		c.Produce(topic, 0, nil, []byte("b"))
		pass(500 * time.Millisecond)
		m.stop()
		wantCommitted(t, c, 0, 2)
		wantLog(t, m.h, "setup", "claim 0", "return 0", "cleanup", "consume: <nil>")
		if members := c.Members(group); len(members) != 0 {
			t.Errorf("members after Close: %v", members)
		}
	})
}
