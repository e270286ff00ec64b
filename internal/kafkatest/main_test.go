package kafkatest_test

import (
	"os"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

var shared = kafkatest.Shared{Options: kafkatest.Options{Links: []string{"a", "b"}, Secure: true, ReauthAfter: 2 * time.Second}}

func TestMain(m *testing.M) {
	if end := os.Getenv(envVictim); end != "" {
		runVictim(end)
	}
	shared.Run(m)
}
