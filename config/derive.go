package config

import (
	"cmp"
	"time"
)

// The numbers behind the group timeouts. Each is explained where it is used, and in Plan.String.
const (
	sessionFloor   = 45 * time.Second // the default of Java consumers since 3.0 (KIP-735)
	sessionCeiling = 5 * time.Minute
	heartbeatAim   = 3 * time.Second
	rebalanceCap   = 90 * time.Second
	// releaseRoom is what a rebalance needs beside grace and heartbeat: the claim's close, the last commit, the joins of the others.
	releaseRoom    = 12 * time.Second
	shortEager     = 15 * time.Second
	shortCoop      = time.Minute
	windDown       = 5 * time.Second
	stopWithin     = 25 * time.Second
	holdFrom       = 10 * time.Second // of expected durations: below, it is cheaper to wait for the tasks
	leaseMargin    = 5 * time.Second
	joinMargin     = 5 * time.Second
	callTimeout    = 5 * time.Second
	patience       = 10 * time.Second
	processingTime = 100 * time.Millisecond
	waitTime       = 250 * time.Millisecond
	refresh        = time.Minute
	retryMax       = 40
	retryBackoff   = 250 * time.Millisecond
)

// derive expects a complete Input.
func derive(in Input) *Plan {
	p := &Plan{
		Input:                 in,
		CallTimeout:           callTimeout,
		Patience:              patience,
		MaxProcessingTime:     processingTime,
		MetadataRefresh:       whole(cmp.Or(in.MetadataRefresh, refresh)),
		RebalanceRetryMax:     retryMax,
		RebalanceRetryBackoff: retryBackoff,
	}
	p.deriveGroup()
	p.deriveFetch()
	return p
}

func (p *Plan) deriveGroup() {
	in := p.Input
	p.SessionTimeout = in.session()
	p.RebalanceTimeout = in.rebalance(p.SessionTimeout)
	p.HeartbeatInterval = in.heartbeat(p.SessionTimeout, p.RebalanceTimeout)
	p.Grace, p.CancelFirst = in.grace(p.RebalanceTimeout)
	p.StopGrace, p.StopCancelFirst = in.stopGrace()
	p.HoldLimit = p.holdLimit()
	p.Lease = lease(p.SessionTimeout, p.RebalanceTimeout)
	p.JoinReadTimeout = wholeUp(max(p.RebalanceTimeout, in.GroupRebalanceTimeout)) + joinMargin
}

func (p *Plan) deriveFetch() {
	d := p.Input.Expected
	long := d >= time.Second
	p.ChannelBufferSize = channelBuffer(d)
	p.FetchDefault = fetchBytes(d)
	p.MaxWaitTime = whole(min(waitTime, p.RebalanceTimeout/4))
	p.CopyMessages = long
	p.BacklogMessages, p.BacklogBytes = 30_000, 2<<20
	if long {
		p.BacklogMessages, p.BacklogBytes = 2, 1<<20
	}
	if d < 100*time.Millisecond {
		p.CommitInterval = 200 * time.Millisecond
	}
}

// slack is 1.2 × d: what a task of length d may take before anybody doubts it.
func slack(d time.Duration) time.Duration { return d/5*6 + d%5*6/5 }

// short says that every normal task ends within a grace that a group can bear.
func (in Input) short() bool {
	if in.Eager {
		return slack(in.Max) <= shortEager
	}
	return slack(in.Max) <= shortCoop
}

func (in Input) session() time.Duration {
	low, high := in.sessionLimits()
	if in.CrashDetection > 0 {
		return whole(in.CrashDetection)
	}
	wished := min(max(wholeUp(slack(in.Expected)), sessionFloor), sessionCeiling)
	return min(max(wished, low), high)
}

// rebalance leaves room for the grace, for hearing of the rebalance, and for giving up claims. A third of it is at least one
// heartbeat interval, also when Heartbeat was asked for.
func (in Input) rebalance(session time.Duration) time.Duration {
	room := releaseRoom + max(heartbeatAim, in.Heartbeat)
	timeout := min(session, rebalanceCap)
	if in.short() {
		timeout = slack(in.Max) + room
	}
	if in.Grace > 0 {
		timeout = max(timeout, in.Grace+room)
	}
	return wholeUp(max(timeout, 3*in.Heartbeat))
}

func (in Input) heartbeat(session, rebalance time.Duration) time.Duration {
	if in.Heartbeat > 0 {
		return whole(in.Heartbeat)
	}
	return whole(min(heartbeatAim, session/3, rebalance/3))
}

func (in Input) grace(rebalance time.Duration) (grace time.Duration, cancelFirst bool) {
	switch {
	case in.Grace == NoGrace:
		return 0, true
	case in.Grace > 0:
		return in.Grace, false
	case in.short():
		return wholeUp(slack(in.Max)), false
	}
	return whole(min(windDown, rebalance/3)), true
}

func (in Input) stopGrace() (grace time.Duration, cancelFirst bool) {
	switch {
	case in.StopGrace == NoGrace:
		return 0, true
	case in.StopGrace > 0:
		return in.StopGrace, false
	case slack(in.Max) <= stopWithin:
		return wholeUp(slack(in.Max)), false
	}
	return windDown, true
}

func (p *Plan) holdLimit() time.Duration {
	in := p.Input
	switch {
	case in.HoldLimit == NoHold:
		return 0
	case in.HoldLimit > 0:
		return in.HoldLimit
	case in.Expected < holdFrom && p.WaitsForAll():
		return 0
	}
	return wholeUp(in.Max)
}

// lease leaves 5 s to react to a cancel. Below 20 s that would eat the lease up, so there it leaves a quarter: the lease is then
// still longer than two heartbeats, of which each is at most a third.
func lease(session, rebalance time.Duration) time.Duration {
	shorter := min(session, rebalance)
	return whole(shorter - min(leaseMargin, shorter/4))
}

// channelBuffer holds two seconds of work, at least one message.
func channelBuffer(d time.Duration) int {
	return int(min(max(2*time.Second/d, 1), 256))
}

// fetchBytes is how much one fetch brings of a partition: the longer the tasks, the less of it is worth to lie in memory.
func fetchBytes(d time.Duration) int32 {
	switch {
	case d <= 100*time.Millisecond:
		return 1 << 20
	case d <= 500*time.Millisecond:
		return 512 << 10
	case d <= 2*time.Second:
		return 256 << 10
	case d < 5*time.Second:
		return 128 << 10
	}
	return 64 << 10
}
