package config_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

// B06: buffers in single digits for long tasks.
func TestBuffersShrinkWithTheTask(t *testing.T) {
	for _, c := range []struct {
		d      time.Duration
		buffer int
		fetch  int32
	}{
		{ms, 256, 1 << 20},
		{7 * ms, 256, 1 << 20},
		{8 * ms, 250, 1 << 20},
		{100 * ms, 20, 1 << 20},
		{101 * ms, 19, 512 << 10},
		{500 * ms, 4, 512 << 10},
		{501 * ms, 3, 256 << 10},
		{sec, 2, 256 << 10},
		{2 * sec, 1, 256 << 10},
		{2*sec + 1, 1, 128 << 10},
		{5*sec - 1, 1, 128 << 10},
		{5 * sec, 1, 64 << 10},
		{30 * sec, 1, 64 << 10},
		{7 * day, 1, 64 << 10},
	} {
		t.Run(c.d.String(), func(t *testing.T) {
			p := mustPlan(t, config.Input{Expected: c.d})
			expect(t, "ChannelBufferSize", p.ChannelBufferSize, c.buffer)
			expect(t, "FetchDefault", p.FetchDefault, c.fetch)
		})
	}
}

func TestBacklogAndCopies(t *testing.T) {
	type backlog struct {
		messages int
		bytes    int64
		copies   bool
	}
	for _, c := range []struct {
		d    time.Duration
		want backlog
	}{
		{ms, backlog{30_000, 2 << 20, false}},
		{sec - 1, backlog{30_000, 2 << 20, false}},
		{sec, backlog{2, 1 << 20, true}},
		{7 * day, backlog{2, 1 << 20, true}},
	} {
		p := mustPlan(t, config.Input{Expected: c.d})
		expect(t, "backlog of "+c.d.String(), backlog{p.BacklogMessages, p.BacklogBytes, p.CopyMessages}, c.want)
	}
}

func TestCommitInterval(t *testing.T) {
	expect(t, "short", mustPlan(t, config.Input{Expected: 100*ms - 1}).CommitInterval, 200*ms)
	expect(t, "long", mustPlan(t, config.Input{Expected: 100 * ms}).CommitInterval, 0)
}

func TestValuesThatNoTaskChanges(t *testing.T) {
	for _, d := range []time.Duration{ms, sec, 5 * time.Minute, 7 * day} {
		p := mustPlan(t, config.Input{Expected: d})
		expect(t, "MaxProcessingTime", p.MaxProcessingTime, 100*ms)
		expect(t, "MaxWaitTime", p.MaxWaitTime, 250*ms)
		expect(t, "MetadataRefresh", p.MetadataRefresh, time.Minute)
		expect(t, "RebalanceRetryMax", p.RebalanceRetryMax, 40)
		expect(t, "RebalanceRetryBackoff", p.RebalanceRetryBackoff, 250*ms)
	}
	tiny := mustPlan(t, config.Input{Expected: hr, CrashDetection: 600 * ms, Broker: broker(ms, 0)})
	expect(t, "MaxWaitTime below the rebalance timeout", tiny.MaxWaitTime, 150*ms)
}

// B07.
func TestMetadataRefreshAsAskedFor(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: hr, MetadataRefresh: 2500*ms + 1})
	expect(t, "MetadataRefresh", p.MetadataRefresh, 2500*ms)
	for value, d := range map[string]time.Duration{"-1ns": -1, "99.999999ms": 100*ms - 1, "5m0.000000001s": 5*time.Minute + 1} {
		_, err := config.Input{Expected: hr, MetadataRefresh: d}.Plan()
		wantFault(t, err, config.ErrInput, "MetadataRefresh", value)
	}
}
