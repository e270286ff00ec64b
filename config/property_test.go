package config_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/evenkeel-go/evenkeel/config"
)

// logSpaced draws a duration so that each order of magnitude is as likely as any other.
func logSpaced(r *rand.Rand, low, high time.Duration) time.Duration {
	x := math.Exp(r.Float64()*math.Log(float64(high)/float64(low))) * float64(low)
	return min(max(time.Duration(x), low), high)
}

// mostly returns 0 half of the time: the default.
func mostly(r *rand.Rand, d time.Duration) time.Duration { return d * time.Duration(r.IntN(2)) }

func randomInput(r *rand.Rand) config.Input {
	in := config.Input{
		Expected:              logSpaced(r, ms, 7*day),
		Eager:                 r.IntN(2) == 0,
		Grace:                 mostly(r, logSpaced(r, 1, 4*time.Minute)),
		StopGrace:             mostly(r, logSpaced(r, 1, 7*day)),
		HoldLimit:             mostly(r, logSpaced(r, 1, 30*day)),
		CrashDetection:        mostly(r, logSpaced(r, 500*ms, 30*time.Minute)),
		Heartbeat:             mostly(r, logSpaced(r, 10*ms, 30*sec)),
		MetadataRefresh:       mostly(r, logSpaced(r, 100*ms, 5*time.Minute)),
		GroupRebalanceTimeout: mostly(r, logSpaced(r, ms, 24*day)),
		Broker:                broker(mostly(r, logSpaced(r, ms, time.Minute)), mostly(r, logSpaced(r, 500*ms, 24*day))),
	}
	in.Max = mostly(r, logSpaced(r, in.Expected, 30*day))
	if r.IntN(4) == 0 {
		in.Grace, in.StopGrace, in.HoldLimit = config.NoGrace, config.NoGrace, config.NoHold
	}
	if r.IntN(4) == 0 {
		in.InstanceID = "pod-7"
	}
	return in
}

// Every duration from 1 ms to 7 days, log-spaced, both protocols: values that a stock broker accepts. B03.
func TestEveryDurationGivesASoundPlan(t *testing.T) {
	for d := ms; d < 7*day; d += max(d/10, 1) {
		for _, eager := range []bool{false, true} {
			in := config.Input{Expected: d, Eager: eager}
			p, err := in.Plan()
			if err != nil {
				t.Fatalf("%+v: %v", in, err)
			}
			wantSound(t, in, p)
			cfg := mustApply(t, in, nil)
			if faults := config.Check(cfg, d); faults != nil {
				t.Fatalf("%+v: the plan's own config has faults: %v", in, faults)
			}
		}
	}
}

// All fields at random.
func TestEveryAcceptedInputGivesASoundPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 4000 {
		in := randomInput(r)
		p, err := in.Plan()
		if err != nil {
			wantFieldError(t, in, err)
			continue
		}
		accepted++
		wantSound(t, in, p)
	}
	if accepted < 1000 {
		t.Errorf("only %d inputs were accepted: the test looks at too little", accepted)
	}
}

func wantFieldError(t *testing.T, in config.Input, err error) {
	t.Helper()
	f, ok := errors.AsType[*config.FaultError](err)
	if !ok || !errors.Is(err, config.ErrInput) || f.Field == "" || f.Value == "" || f.Why == "" || f.Use == "" {
		t.Fatalf("%+v: %#v", in, err)
	}
}

// wantSound checks what holds for every plan.
func wantSound(t *testing.T, in config.Input, p *config.Plan) {
	t.Helper()
	must := func(ok bool, what string) {
		t.Helper()
		if !ok {
			t.Fatalf("%s\n%+v\n%v", what, in, p)
		}
	}
	wantWire(must, p)
	wantGroup(must, in, p)
	wantGrace(must, in, p)
	wantFetch(must, p)
	wantText(must, p)
	wantApplied(t, in, p)
}

type must func(ok bool, what string)

func wantWire(must must, p *config.Plan) {
	for _, d := range []time.Duration{p.SessionTimeout, p.HeartbeatInterval, p.RebalanceTimeout, p.MaxWaitTime} {
		must(d > 0 && d%ms == 0 && d/ms < 1<<31, d.String()+" does not fit on the wire")
	}
}

func wantGroup(must must, in config.Input, p *config.Plan) {
	limits := p.Input.Broker
	must(p.SessionTimeout >= limits.MinSessionTimeout && p.SessionTimeout <= limits.MaxSessionTimeout, "session outside the broker's limits")
	must(in.CrashDetection > 0 || p.SessionTimeout <= max(5*time.Minute, limits.MinSessionTimeout+ms), "session above its ceiling")
	must(p.HeartbeatInterval <= p.SessionTimeout/3 && p.HeartbeatInterval <= p.RebalanceTimeout/3, "heartbeat above a third")
	must(p.RebalanceTimeout <= 5*time.Minute, "rebalance above 5 min")

	shorter := min(p.SessionTimeout, p.RebalanceTimeout)
	must(p.Lease > 2*p.HeartbeatInterval, "lease not above two heartbeats")
	must(p.Lease < shorter && p.Lease >= shorter-5*sec, "lease margin")
	must(shorter < 20*sec || p.Lease == shorter-5*sec, "lease margin is not 5 s")
	must(p.JoinReadTimeout >= max(p.RebalanceTimeout, in.GroupRebalanceTimeout)+5*sec, "join would be cut off")
}

func wantGrace(must must, in config.Input, p *config.Plan) {
	must(p.Grace >= 0 && p.Grace <= 4*time.Minute && p.StopGrace >= 0 && p.StopGrace <= 7*day, "grace out of bounds")
	must(in.Grace <= 0 || p.Grace == in.Grace && !p.CancelFirst, "a grace that was asked for")
	must(in.Grace != config.NoGrace || p.Grace == 0 && p.CancelFirst, "no grace")
	must(p.CancelFirst || in.Grace > 0 || p.Grace >= p.Input.Max, "tasks are waited for, but not long enough")
	must(!p.CancelFirst || p.Grace <= 5*sec, "winding down takes too long")
	release := min(sec, p.RebalanceTimeout/3)
	must(p.HeartbeatInterval+p.Grace+release <= p.RebalanceTimeout, "the rebalance timeout does not cover heartbeat, grace and release")
	must(p.HoldLimit >= 0 && p.HoldLimit <= 30*day, "hold limit out of bounds")
	must(in.HoldLimit != config.NoHold || p.HoldLimit == 0, "a hold limit where none was asked for")
	must(in.HoldLimit <= 0 || p.HoldLimit == in.HoldLimit, "a hold limit that was asked for")
	must(in.HoldLimit != 0 || p.HoldLimit == 0 || p.HoldLimit >= p.Input.Max, "a hold limit that ends normal tasks")
	must(in.HoldLimit != 0 || p.HoldLimit > 0 || p.WaitsForAll(), "a rebalance that neither leaves tasks alone nor waits for them")
	must(in.StopGrace <= 0 || p.StopGrace == in.StopGrace && !p.StopCancelFirst, "a stop grace that was asked for")
	must(in.StopGrace != config.NoGrace || p.StopGrace == 0 && p.StopCancelFirst, "no stop grace")
	must(p.StopCancelFirst || in.StopGrace > 0 || p.StopGrace >= p.Input.Max, "a stop waits for tasks, but not long enough")
	must(in.StopGrace != 0 || p.StopGrace <= 25*sec, "stopping takes longer than Kubernetes grants")
}

func wantFetch(must must, p *config.Plan) {
	must(p.ChannelBufferSize >= 1 && p.ChannelBufferSize <= 256, "channel buffer")
	must(p.FetchDefault >= 64<<10 && p.FetchDefault <= 1<<20, "fetch size")
	must(p.MaxProcessingTime == 100*ms, "processing time")
	must(p.MaxWaitTime <= 250*ms && p.MaxWaitTime < p.RebalanceTimeout, "wait time")
	must(p.BacklogMessages > 0 && p.BacklogBytes > 0 && p.CommitInterval >= 0 && p.CommitInterval <= 300*ms, "backlog or commits")
}

func wantText(must must, p *config.Plan) {
	for line := range strings.Lines(p.String()) {
		must(utf8.RuneCountInString(strings.TrimRight(line, "\n")) <= 110, "line too long: "+line)
	}
}

// wantApplied checks what sarama gets: Apply has called its Validate.
func wantApplied(t *testing.T, in config.Input, p *config.Plan) {
	t.Helper()
	cfg, err := p.Apply(nil)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	if faults := in.Check(cfg); faults != nil {
		t.Fatalf("%+v: the plan's own config has faults: %v", in, faults)
	}
	member, err := p.ApplyMember(nil)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	if member.Net.ReadTimeout > 10*sec || member.Net.ReadTimeout < sec {
		t.Fatalf("%+v: member read timeout %v", in, member.Net.ReadTimeout)
	}
}
