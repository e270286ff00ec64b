package config_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

// Values at the edge of what is sound are no faults: a person's choice is respected.
func TestCheckToleratesSoundChoices(t *testing.T) {
	for name, choose := range map[string]func(*sarama.Config){
		"shortest session": func(c *sarama.Config) { set(c, 20*sec, 3*sec, 90*sec) },
		"longest, static": func(c *sarama.Config) {
			c.Consumer.Group.Session.Timeout, c.Consumer.Group.InstanceId = 30*time.Minute, "pod-1"
		},
		"slowest heartbeat":    func(c *sarama.Config) { c.Consumer.Group.Heartbeat.Interval = 10 * sec },
		"a third of session":   func(c *sarama.Config) { set(c, 27*sec, 9*sec, 90*sec) },
		"a third of rebalance": func(c *sarama.Config) { set(c, 60*sec, 9*sec, 27*sec); c.Net.ReadTimeout = 32 * sec },
		"quickest heartbeat":   func(c *sarama.Config) { c.Consumer.Group.Heartbeat.Interval = ms },
		"shortest rebalance":   func(c *sarama.Config) { set(c, 60*sec, 3*sec, 9*sec); c.Net.ReadTimeout = 14 * sec },
		"longest rebalance":    func(c *sarama.Config) { set(c, 60*sec, 3*sec, 5*time.Minute); c.Net.ReadTimeout = 305 * sec },
		"longest read timeout": func(c *sarama.Config) { c.Net.ReadTimeout = 125 * sec },
		"longest dial":         func(c *sarama.Config) { c.Net.DialTimeout = 10 * sec },
		"one retry":            func(c *sarama.Config) { c.Metadata.Retry.Max = 1 },
		"seldom refresh":       func(c *sarama.Config) { c.Metadata.RefreshFrequency = 5 * time.Minute },
		"longest backoff":      func(c *sarama.Config) { r := &c.Consumer.Group.Rebalance.Retry; r.Max, r.Backoff = 10, sec },
		"shortest backoff":     func(c *sarama.Config) { r := &c.Consumer.Group.Rebalance.Retry; r.Max, r.Backoff = 200, 50*ms },
		"largest fetch":        func(c *sarama.Config) { c.Consumer.Fetch.Default = 256 << 10 },
		"longest wait":         func(c *sarama.Config) { c.Consumer.MaxWaitTime = 500 * ms },
		"shortest wait":        func(c *sarama.Config) { c.Consumer.MaxWaitTime = 100 * ms },
		"quick processing":     func(c *sarama.Config) { c.Consumer.MaxProcessingTime = 50 * ms },
		"slower commits":       func(c *sarama.Config) { c.Consumer.Offsets.AutoCommit.Interval = 5 * sec },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := sound(t)
			choose(cfg)
			if faults := config.Check(cfg, 5*time.Minute); faults != nil {
				t.Error(faults)
			}
		})
	}
}

func TestCheckToleratesALongSessionForShortTasks(t *testing.T) {
	cfg := mustApply(t, config.Input{Expected: sec}, nil)
	cfg.Consumer.Group.Session.Timeout = 5 * time.Minute
	if faults := config.Check(cfg, sec); faults != nil {
		t.Error(faults)
	}
}

// A heartbeat has to fit what the other timeouts become once they are mended.
func TestCheckFitsTheHeartbeatToMendedTimeouts(t *testing.T) {
	long := mustApply(t, config.Input{Expected: 50 * ms}, nil)
	set(long, 45*sec, 9*sec, 10*time.Minute)
	wantFields(t, config.Check(long, 50*ms), gather, heartbeat)

	old := config.Input{Expected: 5 * time.Minute, Broker: broker(0, 15*sec)}
	cfg := mustApply(t, old, nil)
	set(cfg, 60*sec, 10*sec, 90*sec)
	cfg.Net.ReadTimeout = 95 * sec
	wantFields(t, old.Check(cfg), session, heartbeat)

	short := sound(t)
	set(short, 10*sec, 3*sec, 10*sec)
	if use := useFor(t, config.Check(short, 5*time.Minute), session); use != "5m" {
		t.Errorf("session: use %s", use)
	}
	set(short, 25*sec, 9*sec, 25*sec)
	if use := useFor(t, config.Check(short, 5*time.Minute), heartbeat); use != "3s" {
		t.Errorf("heartbeat: use %s", use)
	}
	tiny := config.Input{Expected: hr, CrashDetection: sec, Broker: broker(sec, 0)}
	cfg = mustApply(t, tiny, nil)
	cfg.Consumer.Group.Heartbeat.Interval = 400 * ms
	if use := useFor(t, tiny.Check(cfg), heartbeat); use != "333ms" {
		t.Errorf("heartbeat of a test broker's member: use %s", use)
	}
}

func wantFields(t *testing.T, faults []config.Fault, want ...string) {
	t.Helper()
	for i, field := range want {
		if len(faults) != len(want) || faults[i].Field != field {
			t.Fatalf("got %v, want faults in %v", faults, want)
		}
	}
}

func useFor(t *testing.T, faults []config.Fault, field string) string {
	t.Helper()
	for _, f := range faults {
		if f.Field == field {
			return f.Use
		}
	}
	t.Fatalf("no fault in %s: %v", field, faults)
	return ""
}

func TestFaultsShowTheValue(t *testing.T) {
	cfg := sarama.NewConfig()
	cfg.Consumer.Offsets.AutoCommit.Enable = false
	cfg.Consumer.Group.ResetInvalidOffsets = false
	cfg.Consumer.Group.InstanceId = "a b"
	values := map[string]string{}
	for _, f := range config.Check(cfg, 5*time.Minute) {
		values[f.Field] = f.Value
	}
	for field, want := range map[string]string{
		session:                              "10s",
		lists:                                "[range]",
		retryMax:                             "4",
		"Consumer.Fetch.Default":             "1 MiB",
		"Consumer.Offsets.Initial":           "newest",
		"Consumer.Offsets.AutoCommit.Enable": "false",
		"Consumer.Return.Errors":             "false",
		"Consumer.Group.ResetInvalidOffsets": "false",
		"Consumer.Group.InstanceId":          `"a b"`,
	} {
		expect(t, field, values[field], want)
	}
	for bytes, want := range map[int32]string{1<<20 + 1<<10: "1025 KiB", 1<<20 + 1: "1048577 B"} {
		cfg.Consumer.Fetch.Default = bytes
		for _, f := range config.Check(cfg, 5*time.Minute) {
			if f.Field == "Consumer.Fetch.Default" {
				expect(t, f.Field, f.Value, want)
			}
		}
	}
}

// Tasks of 10 s are waited for under cooperative and not under eager, so the same rebalance timeout is a fault under one only.
func TestCheckTakesTheProtocolFromTheStrategies(t *testing.T) {
	for name, c := range map[string]struct {
		eager bool
		want  []string
	}{"cooperative": {false, []string{gather}}, "eager": {true, nil}} {
		t.Run(name, func(t *testing.T) {
			cfg := mustApply(t, config.Input{Expected: 10 * sec, Eager: c.eager}, nil)
			cfg.Consumer.Group.Rebalance.Timeout, cfg.Net.ReadTimeout = 39*sec, 56*sec
			faults := config.Check(cfg, 10*sec)
			wantFields(t, faults, c.want...)
			if len(faults) != len(c.want) {
				t.Errorf("got %v", faults)
			}
		})
	}
}
