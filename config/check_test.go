package config_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

// sound is what the plan makes for tasks of 5 minutes, to be spoilt.
func sound(t *testing.T) *sarama.Config {
	t.Helper()
	return mustApply(t, config.Input{Expected: 5 * time.Minute}, nil)
}

func fields(faults []config.Fault) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Field)
	}
	return out
}

const (
	session   = "Consumer.Group.Session.Timeout"
	heartbeat = "Consumer.Group.Heartbeat.Interval"
	gather    = "Consumer.Group.Rebalance.Timeout"
	retryMax  = "Consumer.Group.Rebalance.Retry.Max"
	backoff   = "Consumer.Group.Rebalance.Retry.Backoff"
	lists     = "Consumer.Group.Rebalance.GroupStrategies"
	read      = "Net.ReadTimeout"
	refused   = "sarama.Config"
)

type spoilt struct {
	spoil  func(*sarama.Config)
	fields string // of the faults, in their order
	why    string
	use    string
}

// TestCheckFindsEachFault spoils one field at a time, so that each rule is seen to find what it is for and nothing else.
func TestCheckFindsEachFault(t *testing.T) {
	for name, c := range map[string]spoilt{
		"session below the broker": {func(c *sarama.Config) { set(c, 5*sec, sec, 90*sec) }, session, "group.min.session.timeout.ms is 6s", "5m"},
		"session above the broker": {func(c *sarama.Config) { c.Consumer.Group.Session.Timeout = hr }, session, "group.max.session.timeout.ms is 30m", "5m"},
		"session too short":        {func(c *sarama.Config) { set(c, 19*sec, sec, 90*sec) }, session, "failover", "5m"},
		"session too long":         {func(c *sarama.Config) { c.Consumer.Group.Session.Timeout = 10 * time.Minute }, session, "lie idle", "5m"},
		"session in fractions":     {func(c *sarama.Config) { c.Consumer.Group.Session.Timeout++ }, session, "cut off", "5m"},
		"session off the wire":     {func(c *sarama.Config) { c.Consumer.Group.Session.Timeout = 1 << 31 * ms }, session, "overflows", "5m"},
		"heartbeat = session": {
			func(c *sarama.Config) { set(c, 30*sec, 30*sec, 90*sec) }, heartbeat + " " + refused, "shorter than " + session + ", 30s", "3s",
		},
		"heartbeat > session/3":  {func(c *sarama.Config) { set(c, 27*sec, 10*sec, 90*sec) }, heartbeat, "a third of " + session + ", 27s", "3s"},
		"heartbeat > rebal./3":   {func(c *sarama.Config) { set(c, 60*sec, 10*sec, 24*sec); c.Net.ReadTimeout = 29 * sec }, heartbeat, "a third of " + gather + ", 24s", "3s"},
		"heartbeat slow":         {func(c *sarama.Config) { c.Consumer.Group.Heartbeat.Interval = 11 * sec }, heartbeat, "whole group waits", "3s"},
		"heartbeat zero":         {func(c *sarama.Config) { c.Consumer.Group.Heartbeat.Interval = 0 }, heartbeat + " " + refused, "less than one is none", "3s"},
		"rebalance too short":    {func(c *sarama.Config) { set(c, 60*sec, 2*sec, 7*sec); c.Net.ReadTimeout = 95 * sec }, gather, "hearing of a rebalance (2s)", "1m30s"},
		"rebalance too long":     {func(c *sarama.Config) { c.Consumer.Group.Rebalance.Timeout = 6 * time.Minute }, gather, "expels a newcomer", "1m30s"},
		"rebalance in fractions": {func(c *sarama.Config) { c.Consumer.Group.Rebalance.Timeout -= 1 }, gather, "cut off", "1m30s"},
		"retries run out":        {func(c *sarama.Config) { c.Consumer.Group.Rebalance.Retry.Max = 39 }, retryMax, "failover", "40"},
		"retries far apart":      {func(c *sarama.Config) { c.Consumer.Group.Rebalance.Retry.Backoff = 2 * sec }, backoff, "stands still", "250ms"},

		"retries in haste":        {func(c *sarama.Config) { c.Consumer.Group.Rebalance.Retry.Backoff = 49 * ms }, backoff, "for nothing", "250ms"},
		"read timeout cuts joins": {func(c *sarama.Config) { c.Net.ReadTimeout = 95*sec - 1 }, read, "cut off", "1m35s"},
		"zombie by read timeout":  {func(c *sarama.Config) { c.Net.ReadTimeout = 125*sec + 1 }, read, "tasks run on for up to 2m23s", "1m35s"},
		"zombie by dials":         {func(c *sarama.Config) { c.Net.DialTimeout = 30 * sec }, "Net.DialTimeout", "tasks run on for up to 3m8s", "5s"},
		"zombie by retries":       {func(c *sarama.Config) { c.Metadata.Retry.Max = 4 }, "Metadata.Retry.Max", "tasks run on", "3"},
		"zombie without end":      {func(c *sarama.Config) { c.Metadata.Retry.Max = math.MaxInt }, "Metadata.Retry.Max", "tasks run on", "3"},
		"no retry":                {func(c *sarama.Config) { c.Metadata.Retry.Max = 0 }, "Metadata.Retry.Max", "one lost heartbeat", "3"},
		"refresh off":             {func(c *sarama.Config) { c.Metadata.RefreshFrequency = 0 }, "Metadata.RefreshFrequency", "never", "1m"},
		"refresh seldom":          {func(c *sarama.Config) { c.Metadata.RefreshFrequency = 5*time.Minute + 1 }, "Metadata.RefreshFrequency", "late", "1m"},

		"processing time raised": {func(c *sarama.Config) { c.Consumer.MaxProcessingTime = 5 * time.Minute }, "Consumer.MaxProcessingTime", "no limit for a task", "100ms"},
		"no buffer":              {func(c *sarama.Config) { c.ChannelBufferSize = 0 }, "ChannelBufferSize", "Errors channel", "1"},
		"large buffer":           {func(c *sarama.Config) { c.ChannelBufferSize = 2 }, "ChannelBufferSize", "after a revocation", "1"},
		"large fetches":          {func(c *sarama.Config) { c.Consumer.Fetch.Default = 1 << 20 }, "Consumer.Fetch.Default", "memory", "64 KiB"},
		"fetch limit":            {func(c *sarama.Config) { c.Consumer.Fetch.Max = 1 << 20 }, "Consumer.Fetch.Max", "skipped", "0"},
		"long wait":              {func(c *sarama.Config) { c.Consumer.MaxWaitTime = 501 * ms }, "Consumer.MaxWaitTime", "given up", "250ms"},
		"no wait":                {func(c *sarama.Config) { c.Consumer.MaxWaitTime = 99 * ms }, "Consumer.MaxWaitTime", "for nothing", "250ms"},

		"newest":              {func(c *sarama.Config) { c.Consumer.Offsets.Initial = sarama.OffsetNewest }, "Consumer.Offsets.Initial", "passed over", "sarama.OffsetOldest"},
		"no such offset":      {func(c *sarama.Config) { c.Consumer.Offsets.Initial = 7 }, "Consumer.Offsets.Initial " + refused, "passed over", "sarama.OffsetOldest"},
		"autocommit off":      {func(c *sarama.Config) { c.Consumer.Offsets.AutoCommit.Enable = false }, "Consumer.Offsets.AutoCommit.Enable", "thrown away", "true"},
		"consumer retries":    {func(c *sarama.Config) { c.Consumer.Retry.Max = 3 }, "Consumer.Retry.Max", "closes the claim", "0"},
		"errors unseen":       {func(c *sarama.Config) { c.Consumer.Return.Errors = false }, "Consumer.Return.Errors", "seen nowhere", "true"},
		"no reset":            {func(c *sarama.Config) { c.Consumer.Group.ResetInvalidOffsets = false }, "Consumer.Group.ResetInvalidOffsets", "cannot start", "true"},
		"bad instance id":     {func(c *sarama.Config) { c.Consumer.Group.InstanceId = "a b" }, "Consumer.Group.InstanceId " + refused, "refuse", "249"},
		"old version":         {func(c *sarama.Config) { c.Version = sarama.V2_3_0_0 }, "Version " + refused, "2.4", "2.4.0"},
		"anything for sarama": {func(c *sarama.Config) { c.Net.MaxOpenRequests = 0 }, refused, "Net.MaxOpenRequests must be > 0", "message"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := sound(t)
			c.spoil(cfg)
			wantFaults(t, config.Check(cfg, 5*time.Minute), c)
		})
	}
}

// set puts the three timeouts that have to fit each other.
func set(c *sarama.Config, session, heartbeat, rebalance time.Duration) {
	c.Consumer.Group.Session.Timeout = session
	c.Consumer.Group.Heartbeat.Interval = heartbeat
	c.Consumer.Group.Rebalance.Timeout = rebalance
}

func wantFaults(t *testing.T, faults []config.Fault, want spoilt) {
	t.Helper()
	if got := strings.Join(fields(faults), " "); got != want.fields {
		t.Fatalf("faults in %s, want %s: %v", got, want.fields, faults)
	}
	f := faults[0]
	if !strings.Contains(f.Why, want.why) || !strings.HasPrefix(f.Use, want.use) && !strings.Contains(f.Use, want.use) {
		t.Errorf("fault %v\nwants why %q, use %q", f, want.why, want.use)
	}
	for _, part := range []string{f.Field, f.Value, f.Why, f.Use} {
		if part == "" || !strings.Contains(f.String(), part) {
			t.Errorf("%q is not in %q", part, f)
		}
	}
}

// B32, B06.
func TestCheckStrategies(t *testing.T) {
	coop, rangeOnly := sarama.NewBalanceStrategyCooperativeSticky(), sarama.NewBalanceStrategyRange()
	for name, c := range map[string]spoilt{
		"range":               {func(c *sarama.Config) { list(c, rangeOnly) }, lists, "could stay", "cooperative-sticky"},
		"round robin":         {func(c *sarama.Config) { list(c, sarama.NewBalanceStrategyRoundRobin()) }, lists, "could stay", "cooperative-sticky"},
		"mixed":               {func(c *sarama.Config) { list(c, coop, rangeOnly) }, lists, "whole list eager", "two rollouts"},
		"twice":               {func(c *sarama.Config) { list(c, coop, coop) }, lists, "the first of a name", "each once"},
		"nothing in common":   {func(c *sarama.Config) { list(c, onlyCooperative{rangeOnly}, rangeOnly) }, lists + " " + refused, "supported by every entry", "cooperative-sticky"},
		"nil":                 {func(c *sarama.Config) { list(c, nil, coop) }, lists + " " + refused, "nil in it", "cooperative-sticky"},
		"empty":               {func(c *sarama.Config) { list(c) }, lists + " " + refused, "empty", "cooperative-sticky"},
		"overridden":          {func(c *sarama.Config) { list(c, coop, coop); single(c, coop) }, "Consumer.Group.Rebalance.Strategy", "overrides", "GroupStrategies alone"},
		"deprecated and poor": {func(c *sarama.Config) { single(c, rangeOnly) }, lists, "could stay", "cooperative-sticky"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := sound(t)
			c.spoil(cfg)
			wantFaults(t, config.Check(cfg, 5*time.Minute), c)
		})
	}
	short := mustApply(t, config.Input{Expected: 10 * ms, Eager: true}, nil)
	list(short, rangeOnly)
	if faults := config.Check(short, 10*ms); faults != nil {
		t.Errorf("range is good enough for short tasks, got %v", faults)
	}
}

func list(c *sarama.Config, s ...sarama.BalanceStrategy) {
	c.Consumer.Group.Rebalance.GroupStrategies = s
}

func single(c *sarama.Config, s sarama.BalanceStrategy) { c.Consumer.Group.Rebalance.Strategy = s }

// B07: a nil config and a nonsense duration are one fault each, never a panic.
func TestB07CheckNonsense(t *testing.T) {
	for name, c := range map[string]struct {
		cfg   *sarama.Config
		d     time.Duration
		field string
	}{
		"nil config":    {nil, hr, "cfg"},
		"nil and 0":     {nil, 0, "cfg"},
		"no duration":   {sarama.NewConfig(), 0, "Expected"},
		"negative":      {sarama.NewConfig(), -sec, "Expected"},
		"300 days":      {sarama.NewConfig(), 300 * day, "Expected"},
		"empty and 1ns": {&sarama.Config{}, 1, "Expected"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := config.Check(c.cfg, c.d)
			if len(faults) != 1 || faults[0].Field != c.field {
				t.Errorf("got %v, want one fault in %s", faults, c.field)
			}
		})
	}
	if faults := config.Check(&sarama.Config{}, hr); len(faults) < 10 {
		t.Errorf("an empty config has %d faults: %v", len(faults), faults)
	}
}

func TestCheckDoesNotModify(t *testing.T) {
	cfg := secured()
	cfg.Net.SASL.Mechanism = "" // sarama's Validate would fill it in
	before := *cfg
	config.Check(cfg, hr)
	expect(t, "mechanism", cfg.Net.SASL.Mechanism, before.Net.SASL.Mechanism)
}

// What the input says about group and broker decides what is a fault.
func TestInputCheckKnowsMore(t *testing.T) {
	slow := config.Input{Expected: 5 * time.Minute, GroupRebalanceTimeout: 5 * time.Minute}
	if got := slow.Check(sound(t)); len(got) != 1 || got[0].Field != read || got[0].Use != "5m5s" {
		t.Errorf("beside a Java consumer: %v", got)
	}
	old := config.Input{Expected: 5 * time.Minute, Broker: broker(0, 2*time.Minute)}
	if got := old.Check(sound(t)); len(got) != 1 || got[0].Field != session || got[0].Use != "2m" {
		t.Errorf("with an older broker: %v", got)
	}
	static := sound(t)
	static.Consumer.Group.InstanceId, static.Consumer.Group.Session.Timeout = "pod-1", 20*time.Minute
	if got := config.Check(static, 5*time.Minute); got != nil {
		t.Errorf("a static member may be away longer: %v", got)
	}
}
