package config_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

// wantFault checks the error's type, its sentinel, its field, and that the text has all of these.
func wantFault(t *testing.T, err, kind error, field string, texts ...string) {
	t.Helper()
	fault, ok := errors.AsType[*config.FaultError](err)
	if !ok {
		t.Fatalf("error is %T (%v), want a *config.FaultError", err, err)
	}
	if !errors.Is(err, kind) {
		t.Errorf("%v does not unwrap to %v", err, kind)
	}
	expect(t, "field", fault.Field, field)
	for _, text := range append(texts, field, fault.Value, fault.Why, fault.Use) {
		if text == "" || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in %q", text, err)
		}
	}
}

// B07: each nonsense is an error that names field and value before any connection is opened.
func TestB07NonsenseIsAnErrorThatNamesTheField(t *testing.T) {
	in := config.Input{Expected: sec}
	with := func(set func(*config.Input)) config.Input {
		changed := in
		set(&changed)
		return changed
	}
	for name, c := range map[string]struct {
		in    config.Input
		field string
		value string
	}{
		"nothing set":       {config.Input{}, "Expected", "0s"},
		"negative":          {config.Input{Expected: -sec}, "Expected", "-1s"},
		"1 ns":              {config.Input{Expected: 1}, "Expected", "1ns"},
		"20 us":             {config.Input{Expected: 20 * time.Microsecond}, "Expected", "20µs"},
		"below 1 ms":        {config.Input{Expected: ms - 1}, "Expected", "999.999µs"},
		"300 days":          {config.Input{Expected: 300 * day}, "Expected", "7200h"},
		"above 7 days":      {config.Input{Expected: 7*day + 1}, "Expected", "168h"},
		"longest duration":  {config.Input{Expected: 1<<63 - 1}, "Expected", "2562047h"},
		"max below d":       {with(func(i *config.Input) { i.Max = sec - 1 }), "Max", "999.999999ms"},
		"negative max":      {with(func(i *config.Input) { i.Max = -1 }), "Max", "-1ns"},
		"max above 30 days": {with(func(i *config.Input) { i.Max = 30*day + 1 }), "Max", "720h"},
		"negative grace":    {with(func(i *config.Input) { i.Grace = -2 }), "Grace", "-2ns"},
		"long grace":        {with(func(i *config.Input) { i.Grace = 4*time.Minute + 1 }), "Grace", "4m"},
		"negative stop":     {with(func(i *config.Input) { i.StopGrace = -sec }), "StopGrace", "-1s"},
		"long hold":         {with(func(i *config.Input) { i.HoldLimit = 30*day + 1 }), "HoldLimit", "720h"},
		"long stop":         {with(func(i *config.Input) { i.StopGrace = 7*day + 1 }), "StopGrace", "168h"},
		"wish below broker": {with(func(i *config.Input) { i.CrashDetection = 6*sec - 1 }), "CrashDetection", "5.999999999s"},
		"wish above broker": {with(func(i *config.Input) { i.CrashDetection = 30*time.Minute + ms }), "CrashDetection", "30m0.001s"},
		"negative wish":     {with(func(i *config.Input) { i.CrashDetection = -sec }), "CrashDetection", "-1s"},
		"wish above old broker": {with(func(i *config.Input) {
			i.CrashDetection, i.Broker = 10*time.Minute, broker(0, 5*time.Minute)
		}), "CrashDetection", "10m"},
		"wish of 499 ms": {with(func(i *config.Input) {
			i.CrashDetection, i.Broker = 499*ms, broker(ms, 0)
		}), "CrashDetection", "499ms"},
		"negative beat": {with(func(i *config.Input) { i.Heartbeat = -1 }), "Heartbeat", "-1ns"},
		"tiny beat":     {with(func(i *config.Input) { i.Heartbeat = 10*ms - 1 }), "Heartbeat", "9.999999ms"},
		"slow beat": {with(func(i *config.Input) {
			i.Heartbeat, i.CrashDetection = 30*sec+1, 10*time.Minute
		}), "Heartbeat", "30.000000001s"},
		"negative group":     {with(func(i *config.Input) { i.GroupRebalanceTimeout = -1 }), "GroupRebalanceTimeout", "-1ns"},
		"group off the wire": {with(func(i *config.Input) { i.GroupRebalanceTimeout = (1 << 31) * ms }), "GroupRebalanceTimeout", "596h31m23.648s"},
		"negative minimum":   {with(func(i *config.Input) { i.Broker = broker(-1, 0) }), "Broker.MinSessionTimeout", "-1ns"},
		"negative maximum":   {with(func(i *config.Input) { i.Broker = broker(0, -1) }), "Broker.MaxSessionTimeout", "-1ns"},
		"maximum of 499 ms":  {with(func(i *config.Input) { i.Broker = broker(ms, 499*ms) }), "Broker.MaxSessionTimeout", "499ms"},
		"limits crossed":     {with(func(i *config.Input) { i.Broker = broker(2*sec, sec) }), "Broker.MinSessionTimeout", "2s"},
		"below the default":  {with(func(i *config.Input) { i.Broker = broker(0, 5*sec) }), "Broker.MinSessionTimeout", "6s"},
		"negative metadata":  {with(func(i *config.Input) { i.Broker.MaxMetadataBytes = -1 }), "Broker.MaxMetadataBytes", "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := c.in.Plan()
			if p != nil {
				t.Errorf("a plan came with the error: %v", p)
			}
			wantFault(t, err, config.ErrInput, c.field, c.value)
		})
	}
}

func TestInputsAtTheirBounds(t *testing.T) {
	for name, in := range map[string]config.Input{
		"shortest":             {Expected: ms},
		"longest":              {Expected: 7 * day, Max: 30 * day, StopGrace: 7 * day, Grace: 4 * time.Minute},
		"Max is Expected":      {Expected: hr, Max: hr},
		"one session allowed":  {Expected: hr, Broker: broker(10*sec, 10*sec)},
		"cut to the broker's":  {Expected: hr, CrashDetection: 30*time.Minute + ms - 1},
		"slowest heartbeat":    {Expected: hr, CrashDetection: 90 * sec, Heartbeat: 30 * sec},
		"quickest heartbeat":   {Expected: hr, Heartbeat: 10 * ms},
		"busiest refresh":      {Expected: hr, MetadataRefresh: 100 * ms},
		"rarest refresh":       {Expected: hr, MetadataRefresh: 5 * time.Minute},
		"longest on the wire":  {Expected: hr, GroupRebalanceTimeout: (1<<31 - 1) * ms, Broker: broker((1<<31-1)*ms, (1<<31-1)*ms)},
		"any session accepted": {Expected: hr, Broker: broker(ms, (1<<31-1)*ms)},
	} {
		t.Run(name, func(t *testing.T) { wantSound(t, in, mustPlan(t, in)) })
	}
}

// B07: heartbeat equal to or above the session, or above a third of it, shows both fields and values.
func TestB07HeartbeatAgainstSessionShowsBoth(t *testing.T) {
	for name, c := range map[string]struct {
		in    config.Input
		texts []string
	}{
		"equal": {
			config.Input{Expected: sec, CrashDetection: 10 * sec, Heartbeat: 10 * sec},
			[]string{"Heartbeat is 10s", "10s (CrashDetection)", "Heartbeat of 3.333s or less", "CrashDetection of 30s or more"},
		},
		"above": {
			config.Input{Expected: sec, CrashDetection: 10 * sec, Heartbeat: 20 * sec},
			[]string{"Heartbeat is 20s", "10s (CrashDetection)", "CrashDetection of 1m or more"},
		},
		"above a third": {
			config.Input{Expected: sec, CrashDetection: 10 * sec, Heartbeat: 10*sec/3 + 1},
			[]string{"Heartbeat is 3.333333334s", "10s (CrashDetection)", "CrashDetection of 10.001s or more"},
		},
		"above a third of the derived one": {
			config.Input{Expected: sec, Heartbeat: 15*sec + 1},
			[]string{"Heartbeat is 15.000000001s", "45s (derived"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.in.Plan()
			wantFault(t, err, config.ErrInput, "Heartbeat", c.texts...)
		})
	}
}

// B07: a session of 5 s under a heartbeat that would be 5 s: the heartbeat is derived again.
func TestB07ShortSessionShortensTheHeartbeat(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: 5 * sec, CrashDetection: 5 * sec, Broker: broker(sec, 0)})
	expect(t, "HeartbeatInterval", p.HeartbeatInterval, 1666*ms)
}

func TestLongGraceSaysWhyItIsRefused(t *testing.T) {
	_, err := config.Input{Expected: hr, Grace: 5 * time.Minute}.Plan()
	wantFault(t, err, config.ErrInput, "Grace", "expels a newcomer", "5m", "up to 4m")
}

func TestInstanceID(t *testing.T) {
	for _, id := range []string{"a", "pod-1", "A.b_c-9", "...", strings.Repeat("x", 249)} {
		expect(t, "InstanceID", mustPlan(t, config.Input{Expected: sec, InstanceID: id}).Input.InstanceID, id)
	}
	for _, id := range []string{".", "..", " ", "a b", "a/b", "ä", "a\n", strings.Repeat("x", 250), strings.Repeat("x", 1<<20)} {
		_, err := config.Input{Expected: sec, InstanceID: id}.Plan()
		wantFault(t, err, config.ErrInput, "InstanceID", "249")
		if len(err.Error()) > 300 {
			t.Errorf("the error has %d characters", len(err.Error()))
		}
	}
}

func TestPlanKeepsTheInputWithDefaults(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: sec})
	want := config.Input{Expected: sec, Max: 3 * sec, Broker: config.BrokerLimits{
		MinSessionTimeout: 6 * sec, MaxSessionTimeout: 30 * time.Minute, MaxMetadataBytes: 4096,
	}}
	expect(t, "Input", p.Input, want)
	again := mustPlan(t, p.Input)
	expect(t, "derived again", again.String(), p.String())
}

// B03: limits that were read from a broker.
func TestB03WithBroker(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: hr, Broker: config.BrokerLimits{MaxMetadataBytes: 1000}})
	before := *p
	q, err := p.WithBroker(config.BrokerLimits{MaxSessionTimeout: time.Minute, MaxMetadataBytes: 2000})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the first plan", *p, before)
	expect(t, "SessionTimeout", q.SessionTimeout, time.Minute)
	expect(t, "a limit the user set", q.Input.Broker.MaxMetadataBytes, 1000)
	expect(t, "a limit nobody set", q.Input.Broker.MinSessionTimeout, 6*sec)

	r, err := q.WithBroker(config.BrokerLimits{MaxSessionTimeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "SessionTimeout after another broker", r.SessionTimeout, 2*time.Minute)
}

func TestB03WithBrokerRefusesAWishThatTheBrokerRefuses(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: hr, CrashDetection: 10 * time.Minute})
	_, err := p.WithBroker(config.BrokerLimits{MaxSessionTimeout: 5 * time.Minute})
	wantFault(t, err, config.ErrInput, "CrashDetection", "10m", "6s to 5m", "group.max.session.timeout.ms")

	_, err = p.WithBroker(broker(-1, 0))
	wantFault(t, err, config.ErrInput, "Broker.MinSessionTimeout")
}

func TestEmptyPlanIsRefused(t *testing.T) {
	for name, p := range map[string]*config.Plan{"nil": nil, "zero": {}, "hand-made": {SessionTimeout: sec}} {
		t.Run(name, func(t *testing.T) {
			_, err := p.WithBroker(config.BrokerLimits{})
			wantFault(t, err, config.ErrInput, "Plan", "config.For")
			_, err = p.Apply(nil)
			wantFault(t, err, config.ErrInput, "Plan")
			_, err = p.ApplyMember(nil)
			wantFault(t, err, config.ErrInput, "Plan")
			if s := p.String(); !strings.Contains(s, "config.For") {
				t.Errorf("String() = %q", s)
			}
		})
	}
}
