package config_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

// The usual slips are told as what they are.
func TestSlipsAreExplained(t *testing.T) {
	_, err := config.For(5)
	wantFault(t, err, config.ErrInput, "Expected", "5ns", "a bare number is nanoseconds: write 5*time.Minute")
	for field, in := range map[string]config.Input{
		"Grace":          {Expected: time.Minute, Grace: -time.Second},
		"StopGrace":      {Expected: time.Minute, StopGrace: -time.Second},
		"CrashDetection": {Expected: time.Minute, CrashDetection: -1},
		"Max":            {Expected: time.Minute, Max: -1},
		"Expected":       {Expected: -time.Minute},
	} {
		_, err := in.Plan()
		wantFault(t, err, config.ErrInput, field, "it is negative")
	}
}

// A literal has none of sarama's defaults: each of its zero fields would be the next fault.
func TestALiteralBaseIsExplained(t *testing.T) {
	p, err := config.For(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Apply(&sarama.Config{})
	wantFault(t, err, config.ErrBase, "base", "literal", "sarama.NewConfig()")
}
