// Package config derives timeouts and buffers from a task duration.
package config

import "time"

// Plan holds every derived value. Make one with [For] or [Input.Plan]; it is read-only afterwards and safe for concurrent use.
type Plan struct {
	// Input is what the plan was derived from, defaults filled in.
	Input Input

	SessionTimeout    time.Duration
	HeartbeatInterval time.Duration
	RebalanceTimeout  time.Duration

	// Grace is how long a revoked claim waits for its running tasks.
	Grace time.Duration
	// CancelFirst says that a revocation cancels running tasks at the start of the grace, not at its end: they are too long to end
	// within it and spend it on winding down.
	CancelFirst bool
	// StopGrace is how long a stopping member lets its tasks run before it cancels them.
	StopGrace time.Duration
	// Lease is how long after the last good heartbeat was sent tasks may still run: min(session, rebalance) - 5 s.
	Lease time.Duration

	JoinReadTimeout time.Duration // answer to JoinGroup and SyncGroup
	CallTimeout     time.Duration // dial, and answer to any other coordinator request
	Patience        time.Duration // how long one look for the coordinator goes on

	ChannelBufferSize int
	MaxProcessingTime time.Duration
	FetchDefault      int32
	MaxWaitTime       time.Duration
	MetadataRefresh   time.Duration

	RebalanceRetryMax     int
	RebalanceRetryBackoff time.Duration

	// CommitInterval is the shortest time between two commits of a partition; 0 commits each finished task at once.
	CommitInterval time.Duration

	// BacklogMessages and BacklogBytes bound what a claim holds beyond its running tasks: at either, fetching pauses.
	BacklogMessages int
	BacklogBytes    int64
	// CopyMessages gives each message memory of its own on intake, so that a long task does not pin a whole fetch response.
	CopyMessages bool
}
