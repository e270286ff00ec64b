package kafkatest_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// A helper whose first try did the work and got no good answer must not fail with what it then finds done.
func TestHelpersBearALostAnswer(t *testing.T) {
	b := kafkatest.Fake(t)
	topic := kafkatest.Name(t)
	for _, helper := range []struct {
		key  kmsg.Key
		call func() error
	}{
		{kmsg.CreateTopics, func() error { return b.CreateTopic(topic, 1) }},
		{kmsg.CreatePartitions, func() error { return b.AddPartitions(topic, 3) }},
		{kmsg.DeleteTopics, func() error { return b.DeleteTopic(topic) }},
	} {
		// The broker does the work that it says took too long.
		fault := b.Cluster.Fault(kfake.Fault{Keys: []kmsg.Key{helper.key}, Err: kerr.RequestTimedOut})
		must(t, helper.call())
		if fault.Hits() != 1 {
			t.Errorf("%v: %d faults, want 1", helper.key, fault.Hits())
		}
	}
	must(t, b.CreateTopic(topic, 1))
	if err := b.CreateTopic(topic, 1); err == nil {
		t.Error("created a topic twice")
	}
}
