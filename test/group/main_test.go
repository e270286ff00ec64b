package group_test

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) {
	kit.Main(m, &shared, kit.Programs{"late success": lateSuccess, "at random": atRandom})
}

func kafka() kit.Place { return kit.Kafka(&shared, kit.Version()) }

// everywhere is for what the in-process broker does as a real one.
func everywhere() []kit.Place { return []kit.Place{kit.Fake, kafka()} }
