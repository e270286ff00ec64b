package kafkatest_test

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

func TestFakeConforms(t *testing.T) { conform(t, kafkatest.Fake(t)) }
