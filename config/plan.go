package config

import "time"

// Plan holds every derived value. Make one with [For] or [Input.Plan]; it is read-only afterwards and safe for concurrent use.
// Durations are whole milliseconds, except a Grace, StopGrace or HoldLimit that was asked for. [Plan.String] says why each value is what it is.
type Plan struct {
	// Input is what the plan was derived from, with Max and Broker filled in. Other fields that were left zero stay zero.
	Input Input

	// SessionTimeout is how long the broker waits for a heartbeat before it gives the member's partitions away:
	// crash detection, and for a static member the time that a restart may take. It does not have to exceed a task.
	// Sent in JoinGroup as Consumer.Group.Session.Timeout; always within the broker's limits.
	SessionTimeout time.Duration
	// HeartbeatInterval is how often the member says that it lives and asks whether a rebalance is on: at most a third of
	// SessionTimeout and of RebalanceTimeout. Consumer.Group.Heartbeat.Interval; also the pace of the lease's own heartbeats.
	HeartbeatInterval time.Duration
	// RebalanceTimeout is how long a rebalance waits for this member: it covers one heartbeat interval, the grace and the release
	// of the claims. Sent in JoinGroup as Consumer.Group.Rebalance.Timeout; under cooperative also the time that sarama gives revoked claims.
	RebalanceTimeout time.Duration

	// Grace is how long a revoked claim waits for its running tasks: 0 to 4 minutes.
	Grace time.Duration
	// CancelFirst says that a revocation cancels running tasks at the start of the grace, not at its end: they are too long to end
	// within it and spend it on winding down.
	CancelFirst bool
	// StopGrace is how long a stopping member waits for its running tasks: 0 to 7 days.
	StopGrace time.Duration
	// StopCancelFirst says that a stop cancels running tasks at the start of StopGrace, not at its end. It is so where 1.2 × Max is
	// more than 25 s and no StopGrace was asked for: tasks cannot be expected to end in time, and spend it on winding down.
	StopCancelFirst bool
	// HoldLimit is how long a task may run on a partition that has to move to another member before it is cancelled: up to 30 days.
	// 0 means that tasks keep no partition from moving: a rebalance waits for them, as Grace says.
	HoldLimit time.Duration
	// Lease is how long after the last good heartbeat was sent tasks may still run: the shorter of SessionTimeout and
	// RebalanceTimeout, less 5 s to react to a cancel (less a quarter where that is shorter, below 20 s).
	// Always positive and longer than two heartbeats. Kept by consumer/ only: a plain sarama group has no lease.
	Lease time.Duration

	// JoinReadTimeout is how long to wait for the answer to JoinGroup and SyncGroup: the longest rebalance timeout of the group
	// and 5 s. A shorter one cuts off a join that the broker still holds.
	JoinReadTimeout time.Duration
	// CallTimeout is how long to wait for a connection, and for the answer to any other request to the coordinator: 5 s.
	CallTimeout time.Duration
	// Patience is how long one look for the coordinator goes on: 10 s.
	Patience time.Duration

	// ChannelBufferSize is the number of messages that sarama holds ready for each claim: 1 to 256. sarama.Config.ChannelBufferSize,
	// which is also the size of the group's Errors channel.
	ChannelBufferSize int
	// MaxProcessingTime is Consumer.MaxProcessingTime: always 100 ms. It is no limit for a task.
	MaxProcessingTime time.Duration
	// FetchDefault is Consumer.Fetch.Default, in bytes a partition and fetch: 1 MiB for Expected up to 100 ms, 512 KiB up to 500 ms,
	// 256 KiB up to 2 s, 128 KiB below 5 s, else 64 KiB. A larger message arrives all the same.
	FetchDefault int32
	// MaxWaitTime is Consumer.MaxWaitTime: 250 ms, less only when the rebalance timeout is below 1 s.
	MaxWaitTime time.Duration
	// MetadataRefresh is Metadata.RefreshFrequency: 1 min, or as asked for. New partitions and topics are noticed by it alone.
	MetadataRefresh time.Duration

	// RebalanceRetryMax is Consumer.Group.Rebalance.Retry.Max: 40.
	RebalanceRetryMax int
	// RebalanceRetryBackoff is Consumer.Group.Rebalance.Retry.Backoff: 250 ms.
	RebalanceRetryBackoff time.Duration

	// CommitInterval is the shortest time between two commits of a partition: 200 ms for Expected below 100 ms, else 0, which
	// commits each finished task at once. Package consumer lets the commits of all partitions share a request, at most one in 100 ms, for
	// Expected below 1 s.
	CommitInterval time.Duration

	// BacklogMessages and BacklogBytes bound what a claim holds, messages that wait and the running one together: at either, fetching
	// pauses. What sarama has fetched by then comes on top.
	// 2 messages and 1 MiB for Expected of 1 s and more, else 30,000 messages and 2 MiB. With order by key and without order a claim looks at
	// least 10,000 messages ahead, and what runs does not count.
	BacklogMessages int
	// BacklogBytes counts keys and values. See BacklogMessages.
	BacklogBytes int64
	// CopyMessages gives each message memory of its own on intake, so that a long task does not pin a whole fetch response.
	// Set for Expected of 1 s and more.
	CopyMessages bool

	given Input // as the user wrote it, for WithBroker
}

// WithBroker derives again with limits that were read from the broker (DescribeConfigs). A limit that the user set in [Input.Broker]
// wins, a zero field leaves the default. p stays as it is.
//
// An error is a *[FaultError] as from [Input.Plan]: for example when the wished CrashDetection lies outside what this broker accepts.
func (p *Plan) WithBroker(limits BrokerLimits) (*Plan, error) {
	if p.isZero() {
		return nil, errNoPlan()
	}
	in := p.given
	in.Broker = in.Broker.or(limits)
	next, err := in.Plan()
	if err != nil {
		return nil, err
	}
	next.given = p.given
	return next, nil
}

// isZero finds a plan that was not made by this package.
func (p *Plan) isZero() bool { return p == nil || p.given.Expected == 0 }

func errNoPlan() error {
	return inputFault("Plan", "empty", "it was not derived from anything", "config.For or config.Input.Plan")
}

// WaitsForAll says that a rebalance waits for every normal task of a partition that moves: none is longer than Max, and the grace is as long.
func (p *Plan) WaitsForAll() bool { return !p.CancelFirst && p.Grace >= p.Input.Max }
