package config_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

// mend puts what a fault says to use, as a person would.
func mend(t *testing.T, cfg *sarama.Config, f config.Fault) {
	t.Helper()
	use, _, _ := strings.Cut(f.Use, ",")
	switch to := target(cfg, f.Field).(type) {
	case *time.Duration:
		d, err := time.ParseDuration(use)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		*to = d
	case *int:
		n, err := strconv.Atoi(use)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		*to = n
	default:
		t.Fatalf("nobody spoilt %s: %v", f.Field, f)
	}
}

func target(cfg *sarama.Config, field string) any {
	return map[string]any{
		session:                      &cfg.Consumer.Group.Session.Timeout,
		heartbeat:                    &cfg.Consumer.Group.Heartbeat.Interval,
		gather:                       &cfg.Consumer.Group.Rebalance.Timeout,
		retryMax:                     &cfg.Consumer.Group.Rebalance.Retry.Max,
		backoff:                      &cfg.Consumer.Group.Rebalance.Retry.Backoff,
		read:                         &cfg.Net.ReadTimeout,
		"Net.DialTimeout":            &cfg.Net.DialTimeout,
		"Metadata.Retry.Max":         &cfg.Metadata.Retry.Max,
		"Metadata.RefreshFrequency":  &cfg.Metadata.RefreshFrequency,
		"Consumer.MaxProcessingTime": &cfg.Consumer.MaxProcessingTime,
		"Consumer.MaxWaitTime":       &cfg.Consumer.MaxWaitTime,
		"ChannelBufferSize":          &cfg.ChannelBufferSize,
	}[field]
}

// TestFollowingCheckLeavesNoFault spoils all numbers at random and then does what Check says: once has to be enough.
func TestFollowingCheckLeavesNoFault(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		d := logSpaced(r, ms, 7*day)
		cfg := mustApply(t, config.Input{Expected: d}, nil)
		for _, field := range []string{session, heartbeat, gather, read, "Net.DialTimeout", "Metadata.RefreshFrequency", "Consumer.MaxProcessingTime", "Consumer.MaxWaitTime", backoff} {
			if r.IntN(2) == 0 {
				*target(cfg, field).(*time.Duration) = logSpaced(r, 1, 60*day)
			}
		}
		cfg.ChannelBufferSize = r.IntN(300)
		cfg.Metadata.Retry.Max = r.IntN(30)
		cfg.Consumer.Group.Rebalance.Retry.Max = r.IntN(60)
		for _, f := range config.Check(cfg, d) {
			if f.Field != refused {
				mend(t, cfg, f)
			}
		}
		if left := config.Check(cfg, d); left != nil {
			t.Fatalf("tasks of %v: %v", d, left)
		}
	}
}
