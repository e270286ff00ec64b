package kafkatest_test

import (
	"os"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) {
	if end := os.Getenv(envVictim); end != "" {
		runVictim(end)
	}
	shared.Run(m)
}
