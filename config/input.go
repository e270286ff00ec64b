package config

import (
	"time"

	"github.com/IBM/sarama"
)

// NoGrace asks for no grace at all where a zero duration would mean the derived default.
const NoGrace time.Duration = -1

// Input is what a [Plan] is derived from. Only Expected has to be set; every other zero field means the documented default.
type Input struct {
	// Expected is how long a task usually takes: 1 ms to 7 days.
	Expected time.Duration
	// Max is the longest that is still normal. Default 3 × Expected; at least Expected.
	Max time.Duration
	// Eager derives for the eager rebalance protocol. Default: cooperative.
	Eager bool
	// Grace is how long a rebalance waits for running tasks: at most 4 minutes, [NoGrace] for none.
	Grace time.Duration
	// StopGrace is how long a stopping member waits for running tasks before it cancels them, [NoGrace] for none.
	StopGrace time.Duration
	// CrashDetection is the wished session timeout.
	CrashDetection time.Duration
	// Heartbeat overrides the heartbeat interval.
	Heartbeat time.Duration
	// InstanceID makes the member static (group.instance.id, KIP-345).
	InstanceID string
	// GroupRebalanceTimeout is the longest rebalance timeout of any member of the group, when others have a longer one.
	GroupRebalanceTimeout time.Duration
	// Broker holds the broker's limits where they are known.
	Broker BrokerLimits
}

// BrokerLimits are the broker settings that bound a member's.
type BrokerLimits struct {
	MinSessionTimeout time.Duration // group.min.session.timeout.ms, default 6 s
	MaxSessionTimeout time.Duration // group.max.session.timeout.ms, default 30 min
	MaxMetadataBytes  int           // offset.metadata.max.bytes, default 4096
}

// For derives a plan from the expected task duration alone.
func For(expected time.Duration) (*Plan, error) { return Input{Expected: expected}.Plan() }

// Plan derives all values.
func (in Input) Plan() (*Plan, error) { panic("being written") }

// Apply returns a changed copy of base; nil stands for sarama's defaults.
func (p *Plan) Apply(base *sarama.Config) (*sarama.Config, error) { panic("being written") }
