package config

import (
	"cmp"
	"time"
)

// NoGrace asks for no grace at all where a zero duration would mean the derived default.
const NoGrace time.Duration = -1

// NoHold asks for no hold limit at all: running tasks keep no partition from moving.
const NoHold time.Duration = -1

// Input is what a [Plan] is derived from. Only Expected has to be set; every other zero field means the documented default.
// A value type: copy and change it freely.
type Input struct {
	// Expected is how long a task usually takes: 1 ms to 7 days. Required.
	Expected time.Duration

	// Max is the longest task that is still normal: Expected to 30 days. Default 3 × Expected.
	// It decides whether a rebalance may wait for running tasks, see Grace. No task is ended for being longer, unless its partition has to
	// move to another member: see HoldLimit.
	Max time.Duration

	// Eager derives for the eager rebalance protocol, which takes all partitions from all members at each rebalance.
	// Default: cooperative, which takes only those that move (KIP-429).
	Eager bool

	// Grace is how long a rebalance waits for running tasks before they are cancelled: up to 4 minutes, or [NoGrace].
	// More is refused, because the broker expels a member that has waited 5 minutes to join (KIP-394).
	//
	// Default: 1.2 × Max when that is at most 15 s (eager) or 60 s (cooperative). Longer tasks cannot end within any grace that
	// a group can bear: they are cancelled at once and have 5 s to wind down, or a third of the rebalance timeout if that is less.
	Grace time.Duration

	// StopGrace is how long running tasks may go on when the member stops: up to 7 days, or [NoGrace]. What still runs then is cancelled.
	// Others get the partitions on which nothing runs meanwhile, and the rest as their tasks end. Where HoldLimit is NoHold, or another balance
	// strategy is offered, they get all when the member has left, and a rebalance leaves the tasks no more than Grace. Whoever ends the
	// process by force (Kubernetes after its terminationGracePeriodSeconds) has to wait for longer than this.
	//
	// Default: 1.2 × Max when that is at most 25 s, which fits into the 30 s that Kubernetes grants. Longer tasks are cancelled at once, and
	// have 5 s to wind down.
	StopGrace time.Duration

	// HoldLimit is how long a task may keep its partition from moving to another member: up to 30 days, or [NoHold]. A partition that has to
	// move waits for its running tasks and starts no other. Where one has run for longer than this, those of the partition are cancelled, and
	// run again by the next owner. Tasks on partitions that need not move have no limit, and those of a member that stops have its StopGrace.
	// With NoHold partitions move although tasks run there, and each rebalance waits for the tasks of those that do, as Grace says.
	//
	// Default: Max; NoHold where Expected is below 10 s and every normal task ends within the grace, for to wait for them is cheaper then.
	HoldLimit time.Duration

	// CrashDetection is the wished session timeout: how long after a crash the broker gives the partitions to others.
	// It has to lie within the broker's limits and be 500 ms or more; fractions of a millisecond are cut off.
	// Default: 1.2 × Expected, at least 45 s and at most 5 min, within the broker's limits.
	CrashDetection time.Duration

	// Heartbeat overrides the heartbeat interval: 10 ms to 30 s, and at most a third of the session timeout; fractions of a
	// millisecond are cut off. Default: 3 s, or less when the session timeout or the rebalance timeout is below 9 s.
	Heartbeat time.Duration

	// MetadataRefresh is how often the member asks for new partitions and topics: 100 ms to 5 min; fractions of a millisecond are cut
	// off. Each time is a request or two to one broker. Default: 1 min.
	MetadataRefresh time.Duration

	// InstanceID makes the member static (group.instance.id, KIP-345): a restart within the session timeout moves no partition.
	// One for each member of the group: 1 to 249 of the characters a-z A-Z 0-9 . _ - but neither "." nor "..".
	// Default: a dynamic member.
	InstanceID string

	// GroupRebalanceTimeout is the longest rebalance timeout of any member of the group, where others have a longer one than this
	// plan: a Java consumer brings its max.poll.interval.ms, 5 minutes by default. The broker lets a join wait that long.
	// 1 ms to 2^31-1 ms. Default: that of this plan.
	GroupRebalanceTimeout time.Duration

	// Broker holds the broker's limits where they are known. Default: those of Kafka 2.3 and newer.
	// [Plan.WithBroker] fills in what was read from a broker.
	Broker BrokerLimits
}

// BrokerLimits are the broker settings that bound a member's. A zero field means the broker's default.
type BrokerLimits struct {
	// MinSessionTimeout is group.min.session.timeout.ms. Default 6 s.
	MinSessionTimeout time.Duration
	// MaxSessionTimeout is group.max.session.timeout.ms, 500 ms or more. Default 30 min; brokers before 2.3 have 5 min.
	MaxSessionTimeout time.Duration
	// MaxMetadataBytes is offset.metadata.max.bytes: how much text a commit may carry. Default 4096.
	MaxMetadataBytes int
}

// or takes each field that is not set in l from other.
func (l BrokerLimits) or(other BrokerLimits) BrokerLimits {
	return BrokerLimits{
		MinSessionTimeout: cmp.Or(l.MinSessionTimeout, other.MinSessionTimeout),
		MaxSessionTimeout: cmp.Or(l.MaxSessionTimeout, other.MaxSessionTimeout),
		MaxMetadataBytes:  cmp.Or(l.MaxMetadataBytes, other.MaxMetadataBytes),
	}
}

// stockBroker is what Kafka 2.3 to 4.x have when nobody changed it.
func stockBroker() BrokerLimits {
	return BrokerLimits{MinSessionTimeout: 6 * time.Second, MaxSessionTimeout: 30 * time.Minute, MaxMetadataBytes: 4096}
}

// For derives a plan from the expected task duration alone: 1 ms to 7 days. Errors are those of [Input.Plan].
func For(expected time.Duration) (*Plan, error) { return Input{Expected: expected}.Plan() }

// Plan derives all values. It opens no connection and reads no clock: the same input gives the same plan.
//
// A field out of its bounds, or two that contradict each other, is a *[FaultError] that unwraps to [ErrInput] and names the field,
// its value, the reason and what to use instead.
func (in Input) Plan() (*Plan, error) {
	full, err := in.complete()
	if err != nil {
		return nil, err
	}
	p := derive(full)
	p.given = in
	return p, nil
}

// complete checks the input and fills in the defaults that do not depend on other fields. What the user may override stays zero,
// so that a plan's Input can be changed and derived from again.
func (in Input) complete() (Input, error) {
	if err := in.checkBounds(); err != nil {
		return in, err
	}
	in.Max = cmp.Or(in.Max, 3*in.Expected)
	in.Broker = in.Broker.or(stockBroker())
	return in, cmp.Or(in.checkMax(), in.checkBroker(), in.checkCrashDetection(), in.checkHeartbeat())
}
