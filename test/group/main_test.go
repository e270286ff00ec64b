package group_test

import (
	"flag"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait for brokers, and hardly compute: more of them fit on two cores than two.
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		_ = flag.Set("test.parallel", "10")
	}
	kit.Main(m, &shared, kit.Programs{"late success": lateSuccess})
}

// everywhere is for what the in-process broker does as a real one.
func everywhere() []kit.Place { return []kit.Place{kit.Fake, kit.Kafka(&shared, kafkatest.Newest)} }

// onAll is for what depends on the coordinator's answers: the oldest version has another coordinator.
func onAll() []kit.Place { return append(everywhere(), kit.Kafka(&shared, kafkatest.Oldest)) }
