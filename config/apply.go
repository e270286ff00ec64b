package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

const (
	transferTimeout    = 10 * time.Second
	metadataTimeout    = 15 * time.Second
	plainRetries       = 3
	memberRetries      = 20
	metadataBackoff    = 250 * time.Millisecond
	newcomerPatience   = 5 * time.Minute // after this the broker expels a member that waits to join
	longestJoinToCover = newcomerPatience + joinMargin
)

// Apply returns a changed copy of base for a sarama.ConsumerGroup of your own, with handler/ as its handler. nil stands for
// sarama.NewConfig(). base is not modified. The copy shares what base points to: TLS config, token provider, dialer, metric
// registry, interceptors, and balance strategies that you chose.
//
// # What it sets
//
// Under Consumer.Group: Session.Timeout, Heartbeat.Interval, Rebalance.Timeout, Rebalance.Retry, Rebalance.GroupStrategies,
// InstanceId when the plan has one, ResetInvalidOffsets true. Under Consumer: Fetch.Default, Fetch.Max 0, MaxWaitTime,
// MaxProcessingTime, Retry.Max 0, Return.Errors true (read the group's Errors channel), Offsets.Initial oldest, AutoCommit.Enable true.
// Beyond: ChannelBufferSize, Metadata.RefreshFrequency, Metadata.Retry, Net.DialTimeout, Net.ReadTimeout, Net.WriteTimeout, Version.
//
// All else stays, in particular SASL, TLS, client id, rack, dialer, interceptors, isolation level and the producer's part.
//
// # Strategies and version
//
// sarama's default, range alone, becomes cooperative-sticky, or sticky for an eager plan: a new one at each call, since it keeps
// state that two groups must not share. A list that you chose stays when it rebalances as the plan does, else it is an error.
// sarama's default Version becomes 3.2 for a cooperative plan, so that subscriptions carry the generation (KIP-792); older brokers
// are negotiated with. It stays where ApiVersionsRequest is off. A Version that you chose stays, and is an error when it is too
// old: 2.4 for cooperative, 2.3 for a static member, 0.10.2 for any group.
//
// # The read timeout, and what it costs
//
// In a plain group one connection carries joins, heartbeats and fetches, with one read timeout for all. A join is answered when the
// slowest member is ready, so the timeout is [Plan.JoinReadTimeout]: a shorter one cuts the join off, which ends the session, and
// with it the claims that a cooperative rebalance would have kept. (It is held to 5 min 5 s, since the broker expels a newcomer
// that waits longer.)
//
// The same timeout is how long a member may take to notice that the coordinator no longer answers. Until then its tasks run on,
// although the broker has given their partitions away after Session.Timeout. This zombie window is one heartbeat interval, one read
// timeout and Metadata.Retry.Max (3) dial timeouts of 5 s: 113 s for tasks of 5 minutes, where sarama's defaults give 123 s. Where
// something accepts connections and says nothing, each retry costs up to three read timeouts instead. A join that is cut off
// happens at every slow rebalance, a black-holed connection seldom, so the join wins here. A shorter Rebalance.Timeout would shorten
// both, but the group's longest one counts, and members run by consumer/ need theirs to outlast a coordinator outage.
// consumer/ has neither problem: it joins over a connection of its own, and a lease ends its tasks in time.
//
// # Errors
//
// A *[FaultError] of kind [ErrBase] where base contradicts the plan; an error that unwraps to ErrBase with sarama's own
// ConfigurationError where base is unsound in another way, a literal &sarama.Config{} for one: start from sarama.NewConfig(). The result passes sarama's Validate.
func (p *Plan) Apply(base *sarama.Config) (*sarama.Config, error) {
	return p.apply(base, sarama.V0_10_2_0, (*Plan).setPlain)
}

// ApplyMember returns a changed copy of base for the connections that consumer/ makes beside its own: as [Plan.Apply], but with
// AutoCommit.Enable false, since consumer/ sends its own commits and nothing is marked; with Net.ReadTimeout and Net.WriteTimeout of
// 10 s, or two thirds of the rebalance timeout if that is less, since no join goes over these connections and a hung leader holds up
// a claim's close that long; with Metadata.Retry of 20 × 250 ms, which survives the restart of a coordinator; and with
// Metadata.Timeout 15 s. It is right under a lease only. Version has to be 2.2 or newer (KIP-394: the member id is known before the
// join is answered).
func (p *Plan) ApplyMember(base *sarama.Config) (*sarama.Config, error) {
	return p.apply(base, sarama.V2_2_0_0, (*Plan).setMember)
}

func (p *Plan) apply(base *sarama.Config, floor sarama.KafkaVersion, set func(*Plan, *sarama.Config)) (*sarama.Config, error) {
	if p.isZero() {
		return nil, errNoPlan()
	}
	if base != nil && base.Net.MaxOpenRequests == 0 && base.Net.DialTimeout == 0 && base.ChannelBufferSize == 0 {
		return nil, baseFault("base", "a literal without sarama's defaults", "a field that is zero there has no default", "sarama.NewConfig() to start from")
	}
	cfg := clone(base)
	if err := p.setChoices(cfg, floor); err != nil {
		return nil, err
	}
	p.setGroup(cfg)
	p.setConsumer(cfg)
	p.setNet(cfg)
	set(p, cfg)
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBase, err)
	}
	return cfg, nil
}

// clone copies what Apply and sarama may write to. Slices get an array of their own, so that an append on one side is not seen on
// the other; what pointers and interfaces lead to is shared.
func clone(base *sarama.Config) *sarama.Config {
	if base == nil {
		return sarama.NewConfig()
	}
	cfg := *base
	cfg.Consumer.Group.Rebalance.GroupStrategies = slices.Clone(base.Consumer.Group.Rebalance.GroupStrategies)
	cfg.Consumer.Group.Member.UserData = slices.Clone(base.Consumer.Group.Member.UserData)
	cfg.Consumer.Interceptors = slices.Clone(base.Consumer.Interceptors)
	cfg.Producer.Interceptors = slices.Clone(base.Producer.Interceptors)
	return &cfg
}

// setChoices sets what the user may have chosen.
func (p *Plan) setChoices(cfg *sarama.Config, floor sarama.KafkaVersion) error {
	list, err := p.strategiesFor(cfg)
	if err != nil {
		return err
	}
	cfg.Consumer.Group.Rebalance.Strategy = nil
	cfg.Consumer.Group.Rebalance.GroupStrategies = list
	if err := p.setInstanceID(cfg); err != nil {
		return err
	}
	return p.setVersion(cfg, floor)
}

// setInstanceID keeps an id in base: a dynamic plan has no opinion.
func (p *Plan) setInstanceID(cfg *sarama.Config) error {
	have, want := &cfg.Consumer.Group.InstanceId, p.Input.InstanceID
	if want != "" && *have != "" && *have != want {
		return baseFault("Consumer.Group.InstanceId", *have, "the plan has another, Input.InstanceID "+want, "one of the two")
	}
	if want != "" {
		*have = want
	}
	return nil
}

func (p *Plan) setVersion(cfg *sarama.Config, floor sarama.KafkaVersion) error {
	if !p.Input.Eager && cfg.ApiVersionsRequest && cfg.Version == sarama.DefaultVersion {
		cfg.Version = sarama.V3_2_0_0
	}
	need, why := leastVersion(cfg, floor)
	if cfg.Version.IsAtLeast(need) {
		return nil
	}
	return baseFault("Version", cfg.Version.String(), why, need.String()+" or newer")
}

// leastVersion expects the strategies and the instance id to be set.
func leastVersion(cfg *sarama.Config, floor sarama.KafkaVersion) (need sarama.KafkaVersion, why string) {
	switch {
	case styleOf(strategies(cfg)) == cooperative:
		return sarama.V2_4_0_0, "cooperative rebalancing came with Kafka 2.4 (KIP-429)"
	case cfg.Consumer.Group.InstanceId != "":
		return sarama.V2_3_0_0, "static membership came with Kafka 2.3 (KIP-345)"
	}
	return floor, "the group protocol needs a newer one"
}

func (p *Plan) setGroup(cfg *sarama.Config) {
	g := &cfg.Consumer.Group
	g.Session.Timeout = p.SessionTimeout
	g.Heartbeat.Interval = p.HeartbeatInterval
	g.Rebalance.Timeout = p.RebalanceTimeout
	g.Rebalance.Retry.Max = p.RebalanceRetryMax
	g.Rebalance.Retry.Backoff = p.RebalanceRetryBackoff
	g.ResetInvalidOffsets = true
}

func (p *Plan) setConsumer(cfg *sarama.Config) {
	cfg.ChannelBufferSize = p.ChannelBufferSize
	c := &cfg.Consumer
	c.MaxProcessingTime = p.MaxProcessingTime
	c.MaxWaitTime = p.MaxWaitTime
	c.Fetch.Default = p.FetchDefault
	c.Fetch.Max = 0
	c.Retry.Max = 0
	c.Return.Errors = true
	c.Offsets.Initial = sarama.OffsetOldest
}

func (p *Plan) setNet(cfg *sarama.Config) {
	cfg.Metadata.RefreshFrequency = p.MetadataRefresh
	cfg.Metadata.Retry.Backoff = metadataBackoff
	cfg.Net.DialTimeout = p.CallTimeout
	cfg.Net.WriteTimeout = transferTimeout
}

func (p *Plan) setPlain(cfg *sarama.Config) {
	cfg.Net.ReadTimeout = p.plainRead()
	cfg.Metadata.Retry.Max = plainRetries
	cfg.Consumer.Offsets.AutoCommit.Enable = true
}

func (p *Plan) setMember(cfg *sarama.Config) {
	cfg.Net.ReadTimeout = p.memberRead()
	cfg.Net.WriteTimeout = p.memberRead()
	cfg.Metadata.Retry.Max = memberRetries
	cfg.Metadata.Timeout = metadataTimeout
	cfg.Consumer.Offsets.AutoCommit.Enable = false
}

// plainRead is the read timeout of connections that carry joins too.
func (p *Plan) plainRead() time.Duration { return min(p.JoinReadTimeout, longestJoinToCover) }

// memberRead stays below the rebalance timeout: a revoked claim waits for the fetch that is under way.
func (p *Plan) memberRead() time.Duration {
	return max(min(transferTimeout, whole(p.RebalanceTimeout*2/3)), time.Second)
}

// zombieWindow is how long a member of a plain group may go on after its coordinator stopped answering: it waits for the next
// heartbeat, for the answer that does not come, and then dials anew until the retries are used up (measured: 119.6 s with sarama's
// defaults, 123 s by this formula).
func zombieWindow(heartbeat, read, dial time.Duration, retries int) time.Duration {
	return heartbeat + read + time.Duration(retries)*dial
}
