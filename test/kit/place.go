package kit

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// At is a broker that the test has started itself, with options that no other test wants.
func At(name string, b kafkatest.Broker) Place {
	return Place{name, func(testing.TB) kafkatest.Broker { return b }}
}
