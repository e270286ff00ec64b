package consumer

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"slices"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

// ErrConfig is wrapped by every error of [New] about its configuration. Nothing has been opened then.
var ErrConfig = errors.New("invalid consumer configuration")

// Config says what to consume, and where. Brokers (or Client, or ConsumerGroup), Group, Topics (or TopicPattern) and Plan have to be
// set; every other zero field means its default. New copies it.
type Config struct {
	// Brokers are the addresses of some brokers of the cluster, host:port. One that answers is enough.
	Brokers []string
	// Group is the consumer group.
	Group string
	// Topics are consumed by name. One that does not exist is waited for: it is named in the log and to [ErrorHook], and the others
	// are consumed meanwhile.
	Topics []string
	// TopicPattern adds all topics whose name it matches, internal ones (starting with two underscores) left out. Anchor it: it matches
	// anywhere in a name. It is looked at again at the plan's MetadataRefresh (1 min), and a change is believed when three answers of
	// the cluster in a row agree, a second apart.
	//
	// A topic that comes or goes then costs each member with the pattern a session: within one more MetadataRefresh, each at a moment of
	// its own, it joins again. That is a rebalance for each member (one or two in all under the eager protocol). Running tasks
	// go on where their partition comes back, which is so as a rule, as the others hold theirs meanwhile. Tasks of a partition that
	// goes to another member, because shares have changed or two members have joined at once, are cancelled and run again there.
	TopicPattern *regexp.Regexp

	// Plan holds the timeouts: see config.For. Limits that the group's coordinator tells are worked into it at Run, for all that follows
	// from them; over a ConsumerGroup it holds as it is.
	Plan *config.Plan
	// Slots is how many tasks run at once in this member. Default: as many as partitions are claimed; 1 makes a strictly serial consumer.
	Slots int
	// Order says what the order of messages is kept for, and so what may run at once. Default: handler.ByPartition.
	Order handler.Order
	// Key is what handler.ByKey orders by. Default: the message's key.
	Key handler.KeyFunc
	// PartitionSlots is how many tasks of one partition may run at once, with another order than by partition. Default: no limit but Slots.
	PartitionSlots int
	// KeySlots is how many tasks of one key may run at once, with order by key. Default 1; more give the order of a key up.
	KeySlots int
	// BacklogBytes bounds what all partitions of this member hold together: see handler.Options. Default 256 MiB.
	BacklogBytes int64
	// Retry is the pause between the attempts of a failed task. Default: 1 s, doubling to 1 min.
	Retry retry.Policy

	// Sarama is the base that the plan is applied to: security, client id, version, rack, dialer, balance strategies, interceptors.
	// It is not modified. Default: sarama.NewConfig(). A group that has committed nothing for a partition starts at its oldest message,
	// whatever Consumer.Offsets.Initial says: with the newest, an interrupted first task would be lost. A limit on Consumer.Fetch.Max is refused: sarama skips a message beyond it.
	Sarama *sarama.Config
	// Client is a client that the user owns and closes after Run. Brokers and Sarama have to be empty then: the client's own
	// configuration is the base. Stopping is slower when the cluster is out of reach, since the client's connections cannot be cut.
	Client sarama.Client
	// ConsumerGroup makes the group instead, for a user who wants to own it: Run calls it until it returns a group, which it does not
	// close, and closing it is what leaves the group. An error of the brokers or of the network is waited for like those of Run itself;
	// any other is a FatalError. Set the strategies as Consumer.Group.Rebalance.GroupStrategies of a configuration from
	// Plan.Apply, so that assignments are heard; a function that returns a group which exists already ignores them. Brokers, Sarama
	// and Client have to be empty. What needs connections of our own is missing then: answered commits, the lease, and joins that can
	// be cancelled. Run drains the group's Errors().
	ConsumerGroup func(strategies []sarama.BalanceStrategy) (sarama.ConsumerGroup, error)

	// Logger defaults to slog.Default().
	Logger *slog.Logger
	// Hooks are values that implement hook interfaces of this package or of package handler; one that implements
	// none is refused.
	Hooks []any
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Brokers, c.Topics, c.Hooks = slices.Clone(c.Brokers), slices.Clone(c.Topics), slices.Clone(c.Hooks)
	return c
}

// fault is a field that cannot stay as it is.
func fault(field string, value any, remedy string) error {
	return fmt.Errorf("%w: Config.%s is %v: %s", ErrConfig, field, value, remedy)
}

// check finds faults before anything is opened.
func (c Config) check() error {
	for _, one := range []func() error{c.checkPlan, c.checkSource, c.checkGroup, c.checkTopics, c.checkHooks, c.checkBase} {
		if err := one(); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) checkPlan() error {
	if c.Plan == nil || c.Plan.Input.Expected == 0 {
		return fault("Plan", "empty", "derive one with config.For(how long a task usually takes)")
	}
	return nil
}

// checkSource wants exactly one way to the cluster.
func (c Config) checkSource() error {
	switch {
	case c.ConsumerGroup != nil && (c.Client != nil || len(c.Brokers) > 0 || c.Sarama != nil):
		return fault("ConsumerGroup", "set", "leave Client, Brokers and Sarama empty, the group has its own")
	case c.ConsumerGroup != nil:
		return nil
	case c.Client != nil && (len(c.Brokers) > 0 || c.Sarama != nil):
		return fault("Client", "set", "leave Brokers and Sarama empty, the client has its own")
	case c.Client != nil && c.Client.Closed():
		return fault("Client", "closed", "pass an open client")
	case c.Client != nil:
		return nil
	case len(c.Brokers) == 0:
		return fault("Brokers", "empty", "set the address of at least one broker, host:port")
	}
	return c.checkBrokers()
}

// checkBrokers wants host:port. An address without a port would be tried for ever.
func (c Config) checkBrokers() error {
	for i, b := range c.Brokers {
		host, port, err := net.SplitHostPort(b)
		if err != nil || host == "" || port == "" {
			return fault(fmt.Sprintf("Brokers[%d]", i), fmt.Sprintf("%q", b), "set host:port, localhost:9092 for example")
		}
	}
	return nil
}

func (c Config) checkGroup() error {
	if c.Group == "" {
		return fault("Group", "empty", "set the name of the consumer group")
	}
	return nil
}

func (c Config) checkTopics() error {
	if len(c.Topics) == 0 && c.TopicPattern == nil {
		return fault("Topics", "empty", "name at least one topic, or set TopicPattern")
	}
	if c.TopicPattern != nil && c.ConsumerGroup != nil {
		return fault("TopicPattern", c.TopicPattern, "set Brokers or Client instead of ConsumerGroup, which does not tell what topics there are")
	}
	if slices.Contains(c.Topics, "") {
		return fault("Topics", fmt.Sprintf("%q", c.Topics), "remove the empty name")
	}
	return nil
}

func (c Config) checkHooks() error {
	for i, v := range c.Hooks {
		if !hearsMember(v) && !hearsTasks(v) {
			return fault(fmt.Sprintf("Hooks[%d]", i), fmt.Sprintf("a %T, which implements no hook interface", v),
				"give it the method of one of this package or of package handler, OnError(error) for example")
		}
	}
	return nil
}

// checkBase applies the plan to the base, for what sarama or the plan refuse.
func (c Config) checkBase() error {
	if c.ConsumerGroup != nil {
		return nil
	}
	base := c.base()
	if base != nil && base.Consumer.Fetch.Max > 0 {
		return fault("Sarama.Consumer.Fetch.Max", base.Consumer.Fetch.Max,
			"set 0: sarama skips a message beyond it (consumer.go:932), which would be lost; a large message is fetched whole without it")
	}
	_, err := c.settings(c.Plan)
	return err
}

func (c Config) base() *sarama.Config {
	if c.Client != nil {
		return c.Client.Config()
	}
	return c.Sarama
}

// settings is the sarama configuration of a plan.
func (c Config) settings(p *config.Plan) (*sarama.Config, error) {
	conf, err := p.ApplyMember(c.base())
	if err != nil {
		return nil, fmt.Errorf("%w: Config.Sarama: %w", ErrConfig, err)
	}
	return conf, nil
}

// handlerOptions is the part of the configuration that package handler takes, with the plan in force.
func (c Config) handlerOptions(plan *config.Plan) handler.Options {
	hooks := slices.DeleteFunc(slices.Clone(c.Hooks), func(v any) bool { return !hearsTasks(v) })
	return handler.Options{
		Plan: plan, Slots: c.Slots, Order: c.Order, Key: c.Key, PartitionSlots: c.PartitionSlots, KeySlots: c.KeySlots,
		BacklogBytes: c.BacklogBytes, Retry: c.Retry, Logger: c.Logger, Hooks: hooks,
	}
}
