package group_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// countJoins counts the JoinGroup requests for the group from now on. A real broker does not tell: there it is always 0.
func countJoins(g *kit.Group) func() int {
	fake, ok := g.Broker.(*kafkatest.FakeBroker)
	if !ok {
		return func() int { return 0 }
	}
	h := fake.Cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Group: g.Name, TopLevel: true, Observe: true, Count: -1})
	return h.Hits
}
