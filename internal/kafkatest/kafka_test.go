package kafkatest_test

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func TestKafkaConforms(t *testing.T) {
	for _, version := range []string{kafkatest.Newest, kafkatest.Oldest} {
		t.Run(version, func(t *testing.T) { conform(t, shared.Kafka(t, version)) })
	}
}
