package kafkatest_test

import (
	"net"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// A port whose node is down, or has yet to come up, is nobody else's.
func TestPortsAreKept(t *testing.T) {
	kept, giveBack, err := kafkatest.KeepPorts(3)
	must(t, err)
	for _, port := range kept {
		l, err := net.Listen("tcp", kafkatest.Loopback(port))
		if err != nil {
			t.Errorf("the node cannot have its own port: %v", err)
			continue
		}
		must(t, l.Close())
		if kafkatest.CanKeep(port) {
			t.Errorf("port %d was given to two", port)
		}
	}
	must(t, giveBack())
	if !kafkatest.CanKeep(kept[0]) {
		t.Errorf("port %d was not given back", kept[0])
	}
}
