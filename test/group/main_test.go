package group_test

import (
	"cmp"
	"flag"
	"os"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

var shared kafkatest.Shared

// envVersion is the version of the one real node: the newest if it is not set.
const envVersion = "EVENKEEL_KAFKA_VERSION"

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait for brokers, and hardly compute: more of them fit on two cores than two.
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = flag.Set("test.parallel", "8")
	}
	kit.Main(m, &shared, kit.Programs{"late success": lateSuccess, "at random": atRandom})
}

func version() string { return cmp.Or(os.Getenv(envVersion), kafkatest.Newest) }

func kafka() kit.Place { return kit.Kafka(&shared, version()) }

// everywhere is for what the in-process broker does as a real one.
func everywhere() []kit.Place { return []kit.Place{kit.Fake, kafka()} }
