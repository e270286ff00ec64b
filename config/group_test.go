package config_test

import (
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

const (
	ms  = time.Millisecond
	sec = time.Second
	hr  = time.Hour
	day = 24 * time.Hour
)

func mustPlan(t *testing.T, in config.Input) *config.Plan {
	t.Helper()
	p, err := in.Plan()
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return p
}

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// broker has limits that tests and old brokers have.
func broker(low, high time.Duration) config.BrokerLimits {
	return config.BrokerLimits{MinSessionTimeout: low, MaxSessionTimeout: high}
}

// B03, B04.
func TestSessionTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		in   config.Input
		want time.Duration
	}{
		"B03 100 ms":               {config.Input{Expected: 100 * ms}, 45 * sec},
		"B03 10 s":                 {config.Input{Expected: 10 * sec}, 45 * sec},
		"floor ends at 37.5 s":     {config.Input{Expected: 37500 * ms}, 45 * sec},
		"in proportion":            {config.Input{Expected: 100 * sec}, 120 * sec},
		"fractions are lifted":     {config.Input{Expected: 100*sec + 1}, 120*sec + ms},
		"ceiling from 250 s":       {config.Input{Expected: 250 * sec}, 5 * time.Minute},
		"B03 10 min":               {config.Input{Expected: 10 * time.Minute}, 5 * time.Minute},
		"B03 2 h":                  {config.Input{Expected: 2 * hr}, 5 * time.Minute},
		"B03 12 h":                 {config.Input{Expected: 12 * hr}, 5 * time.Minute},
		"7 days":                   {config.Input{Expected: 7 * day}, 5 * time.Minute},
		"B03 broker has 5 min":     {config.Input{Expected: hr, Broker: broker(0, 5*time.Minute)}, 5 * time.Minute},
		"broker has less":          {config.Input{Expected: hr, Broker: broker(0, 30*sec)}, 30 * sec},
		"broker wants more":        {config.Input{Expected: sec, Broker: broker(time.Minute, 0)}, time.Minute},
		"broker in fractions":      {config.Input{Expected: sec, Broker: broker(time.Minute+1, 2*time.Minute)}, time.Minute + ms},
		"wish":                     {config.Input{Expected: hr, CrashDetection: 8 * sec}, 8 * sec},
		"wish beyond the ceiling":  {config.Input{Expected: sec, CrashDetection: 30 * time.Minute}, 30 * time.Minute},
		"wish in fractions is cut": {config.Input{Expected: sec, CrashDetection: 20 * sec / 3}, 6666 * ms},
		"wish with a test broker":  {config.Input{Expected: sec, CrashDetection: sec, Broker: broker(sec, 0)}, sec},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "SessionTimeout", mustPlan(t, c.in).SessionTimeout, c.want)
		})
	}
}

func TestB04TimeoutsDoNotGrowWithTheTask(t *testing.T) {
	long, short := mustPlan(t, config.Input{Expected: 6 * hr}), mustPlan(t, config.Input{Expected: 10 * time.Minute})
	if long.SessionTimeout > 30*time.Minute || long.SessionTimeout == 36*short.SessionTimeout {
		t.Errorf("S(6h) = %v, S(10m) = %v", long.SessionTimeout, short.SessionTimeout)
	}
	if long.RebalanceTimeout > 5*time.Minute {
		t.Errorf("R(6h) = %v, want minutes", long.RebalanceTimeout)
	}
	expect(t, "heartbeat(6h)", long.HeartbeatInterval, short.HeartbeatInterval)
	expect(t, "lease(6h)", long.Lease, short.Lease)
}

func TestHeartbeatInterval(t *testing.T) {
	small := broker(ms, 0)
	for name, c := range map[string]struct {
		in   config.Input
		want time.Duration
	}{
		"3 s":                        {config.Input{Expected: 5 * time.Minute}, 3 * sec},
		"a third of a short session": {config.Input{Expected: 5 * time.Minute, CrashDetection: 6 * sec}, 2 * sec},
		"whole milliseconds":         {config.Input{Expected: sec, CrashDetection: 1000 * ms, Broker: small}, 333 * ms},
		"a third of a short rebalance": {
			config.Input{Expected: hr, CrashDetection: 3 * sec, Broker: small}, sec,
		},
		"asked for":            {config.Input{Expected: hr, Heartbeat: 500 * ms}, 500 * ms},
		"a third is allowed":   {config.Input{Expected: hr, CrashDetection: 30 * sec, Heartbeat: 10 * sec}, 10 * sec},
		"fractions are cut":    {config.Input{Expected: hr, Heartbeat: 10 * sec / 3}, 3333 * ms},
		"derived session 45 s": {config.Input{Expected: 100 * ms, Heartbeat: 15 * sec}, 15 * sec},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "HeartbeatInterval", mustPlan(t, c.in).HeartbeatInterval, c.want)
		})
	}
}

type release struct {
	grace, rebalance time.Duration
	cancelFirst      bool
}

func TestGraceAndRebalanceTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		in   config.Input
		want release
	}{
		"short, cooperative":        {config.Input{Expected: sec, Max: 50 * sec}, release{60 * sec, 75 * sec, false}},
		"just too long":             {config.Input{Expected: sec, Max: 50*sec + ms}, release{5 * sec, 45 * sec, true}},
		"short, eager":              {config.Input{Expected: sec, Max: 12500 * ms, Eager: true}, release{15 * sec, 30 * sec, false}},
		"just too long, eager":      {config.Input{Expected: sec, Max: 12501 * ms, Eager: true}, release{5 * sec, 45 * sec, true}},
		"Max defaults to 3 d":       {config.Input{Expected: 2 * sec}, release{7200 * ms, 22200 * ms, false}},
		"1 ms, whole milliseconds":  {config.Input{Expected: ms}, release{4 * ms, 15004 * ms, false}},
		"long":                      {config.Input{Expected: 5 * time.Minute}, release{5 * sec, 90 * sec, true}},
		"very long":                 {config.Input{Expected: 7 * day}, release{5 * sec, 90 * sec, true}},
		"long, short session":       {config.Input{Expected: hr, CrashDetection: 20 * sec}, release{5 * sec, 20 * sec, true}},
		"grace leaves two thirds":   {config.Input{Expected: hr, CrashDetection: 6 * sec}, release{2 * sec, 6 * sec, true}},
		"grace in milliseconds":     {config.Input{Expected: hr, CrashDetection: 7 * sec}, release{2333 * ms, 7 * sec, true}},
		"short, short session":      {config.Input{Expected: sec, CrashDetection: 6 * sec}, release{3600 * ms, 18600 * ms, false}},
		"asked for":                 {config.Input{Expected: hr, Grace: 4 * time.Minute}, release{4 * time.Minute, 255 * sec, false}},
		"asked for, small":          {config.Input{Expected: hr, Grace: sec}, release{sec, 90 * sec, false}},
		"asked for, below derived":  {config.Input{Expected: 10 * sec, Grace: sec}, release{sec, 51 * sec, false}},
		"asked for, in fractions":   {config.Input{Expected: 10 * ms, Grace: sec + 1}, release{sec + 1, 16*sec + ms, false}},
		"asked for with heartbeat":  {config.Input{Expected: 10 * ms, Grace: sec, Heartbeat: 5 * sec}, release{sec, 18 * sec, false}},
		"none, long":                {config.Input{Expected: hr, Grace: config.NoGrace}, release{0, 90 * sec, true}},
		"none, short":               {config.Input{Expected: 2 * sec, Grace: config.NoGrace}, release{0, 22200 * ms, true}},
		"three heartbeats fit":      {config.Input{Expected: 10 * ms, Heartbeat: 15 * sec}, release{36 * ms, 45 * sec, false}},
		"heartbeat, grace, release": {config.Input{Expected: sec, Max: 50 * sec, Heartbeat: 15 * sec}, release{60 * sec, 87 * sec, false}},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustPlan(t, c.in)
			expect(t, "release", release{p.Grace, p.RebalanceTimeout, p.CancelFirst}, c.want)
		})
	}
}

func TestStopGrace(t *testing.T) {
	for name, c := range map[string]struct {
		in   config.Input
		want time.Duration
	}{
		"1.2 max":        {config.Input{Expected: sec, Max: 20 * sec}, 24 * sec},
		"25 s":           {config.Input{Expected: sec, Max: 125*sec/6 + 1}, 25 * sec},
		"longer":         {config.Input{Expected: sec, Max: 21 * sec}, 5 * sec},
		"same for eager": {config.Input{Expected: sec, Max: 20 * sec, Eager: true}, 24 * sec},
		"asked for":      {config.Input{Expected: sec, StopGrace: 7 * day}, 7 * day},
		"as given":       {config.Input{Expected: sec, StopGrace: 1}, 1},
		"none":           {config.Input{Expected: sec, StopGrace: config.NoGrace}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "StopGrace", mustPlan(t, c.in).StopGrace, c.want)
		})
	}
}

func TestLease(t *testing.T) {
	small := broker(ms, 0)
	for name, c := range map[string]struct {
		in   config.Input
		want time.Duration
	}{
		"rebalance - 5 s":       {config.Input{Expected: 5 * time.Minute}, 85 * sec},
		"session - 5 s":         {config.Input{Expected: 15 * sec}, 40 * sec},
		"short tasks":           {config.Input{Expected: 2 * sec}, 17200 * ms},
		"20 s":                  {config.Input{Expected: hr, CrashDetection: 20 * sec}, 15 * sec},
		"a quarter":             {config.Input{Expected: hr, CrashDetection: 6 * sec}, 4500 * ms},
		"whole milliseconds":    {config.Input{Expected: hr, CrashDetection: 6001 * ms}, 4500 * ms},
		"a test broker":         {config.Input{Expected: hr, CrashDetection: 3 * sec, Broker: small}, 2250 * ms},
		"the shortest accepted": {config.Input{Expected: hr, CrashDetection: 500 * ms, Broker: small}, 375 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "Lease", mustPlan(t, c.in).Lease, c.want)
		})
	}
}

func TestReadDeadlines(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: 5 * time.Minute})
	expect(t, "JoinReadTimeout", p.JoinReadTimeout, 95*sec)
	expect(t, "CallTimeout", p.CallTimeout, 5*sec)
	expect(t, "Patience", p.Patience, 10*sec)

	java := mustPlan(t, config.Input{Expected: 5 * time.Minute, GroupRebalanceTimeout: 5 * time.Minute})
	expect(t, "JoinReadTimeout beside a Java consumer", java.JoinReadTimeout, 305*sec)
	shorter := mustPlan(t, config.Input{Expected: 5 * time.Minute, GroupRebalanceTimeout: sec})
	expect(t, "JoinReadTimeout beside a shorter one", shorter.JoinReadTimeout, 95*sec)
}
