package config_test

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

// FuzzInput wants an error that names a field, or a plan for which everything holds that the property tests ask for.
func FuzzInput(f *testing.F) {
	f.Add(int64(sec), int64(0), false, int64(0), int64(0), int64(0), int64(0), "", int64(0), int64(0), int64(0), 0)
	f.Add(int64(hr), int64(2*hr), true, int64(-1), int64(-1), int64(3*sec), int64(sec), "pod-1", int64(5*time.Minute), int64(sec), int64(hr), 100)
	f.Add(int64(ms), int64(ms), false, int64(4*time.Minute), int64(7*day), int64(500*ms), int64(10*ms), "..", int64(1), int64(ms), int64(500*ms), -1)
	f.Add(int64(-1), int64(1<<62), true, int64(1), int64(1), int64(1<<62), int64(30*sec), "a b", int64(1<<62), int64(1<<62), int64(1<<62), 1<<31)
	f.Fuzz(func(t *testing.T, d, most int64, eager bool, grace, stop, crash, beat int64, id string, group, low, high int64, metadata int) {
		in := config.Input{
			Expected: time.Duration(d), Max: time.Duration(most), Eager: eager, Grace: time.Duration(grace), StopGrace: time.Duration(stop), HoldLimit: time.Duration(stop),
			CrashDetection: time.Duration(crash), Heartbeat: time.Duration(beat), InstanceID: id, GroupRebalanceTimeout: time.Duration(group),
			Broker: config.BrokerLimits{MinSessionTimeout: time.Duration(low), MaxSessionTimeout: time.Duration(high), MaxMetadataBytes: metadata},
		}
		p, err := in.Plan()
		if err != nil {
			wantFieldError(t, in, err)
			return
		}
		wantSound(t, in, p)
	})
}

// FuzzCheck wants no panic and no empty fault, whatever stands in a config.
func FuzzCheck(f *testing.F) {
	f.Add(int64(sec), int64(10*sec), int64(3*sec), int64(60*sec), int64(30*sec), 3, 256, int64(250*ms), "", uint8(1))
	f.Add(int64(7*day), int64(1<<62), int64(-1), int64(1<<62), int64(1<<62), 1<<62, -1, int64(0), "x", uint8(255))
	f.Fuzz(func(t *testing.T, d, session, heartbeat, rebalance, net int64, retries, buffer int, wait int64, id string, bits uint8) {
		cfg := &sarama.Config{}
		if bits&1 != 0 {
			cfg = sarama.NewConfig()
		}
		set(cfg, time.Duration(session), time.Duration(heartbeat), time.Duration(rebalance))
		cfg.Net.ReadTimeout, cfg.Net.DialTimeout = time.Duration(net), time.Duration(net)
		cfg.Metadata.Retry.Max, cfg.ChannelBufferSize = retries, buffer
		cfg.Consumer.Group.Rebalance.Retry.Max, cfg.Consumer.Group.Rebalance.Retry.Backoff = retries, time.Duration(net)
		cfg.Consumer.MaxWaitTime, cfg.Consumer.Group.InstanceId = time.Duration(wait), id
		if bits&2 != 0 {
			list(cfg, sarama.NewBalanceStrategyCooperativeSticky(), nil)
		}
		for _, fault := range config.Check(cfg, time.Duration(d)) {
			if fault.Field == "" || fault.Value == "" || fault.Why == "" || fault.Use == "" {
				t.Errorf("empty: %#v", fault)
			}
		}
	})
}
