package consumer

import (
	"errors"
	"fmt"
	"log/slog"
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
	// Brokers are the addresses of some brokers of the cluster, host:port with a port from 1 to 65535. One that answers is enough.
	Brokers []string
	// Group is the consumer group.
	Group string
	// Topics are consumed by name. One that does not exist is waited for: it is named in the log and to [ErrorHook], and the others
	// are consumed meanwhile.
	Topics []string
	// TopicPattern adds all topics whose name it matches, internal ones (starting with two underscores) left out. Anchor it: it matches
	// anywhere in a name. One that matches the empty string is refused, as a slip. It is looked at again at the plan's MetadataRefresh (1
	// min), and a change is believed when three answers of the cluster in a row agree, a second apart.
	//
	// A topic that comes or goes then costs each member with the pattern a session: within one more MetadataRefresh, each at a moment of
	// its own, it joins again. That is a rebalance for each member (one or two in all under the eager protocol). Running tasks
	// go on, for the library's own balance strategy takes no partition away on which one runs. With another strategy they do where their
	// partition comes back, which is so as a rule, and are cancelled and run again where it goes to another member.
	TopicPattern *regexp.Regexp

	// Plan holds the timeouts: see config.For. Limits that the group's coordinator tells are worked into it at Run, for all that follows
	// from them; over a ConsumerGroup it holds as it is.
	Plan *config.Plan
	// Slots is how many tasks run at once in this member. Default: as many as partitions are claimed; 1 makes a strictly serial consumer.
	// With another order than by partition set it to what the machine bears; Run warns where it is not set.
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
	// It is not modified. Default: sarama.NewConfig(). Timeouts, buffers, offsets and commits come from the plan, see
	// config.Plan.ApplyMember; Run logs which settings that you have changed are replaced. A group that has committed nothing for a
	// partition starts at its oldest message, whatever Consumer.Offsets.Initial says: with the newest, an interrupted first task would be
	// lost. A limit on Consumer.Fetch.Max is refused, for sarama skips a message beyond it, and so are a Net.SASL.User and Password that
	// would not be used because Net.SASL.Enable is false.
	Sarama *sarama.Config
	// OfferAlso are balance strategies that are offered beside this library's own while a group moves to it from another one, or back: its
	// members take the first one that all of them offer. They have to rebalance by the plan's protocol, cooperative-sticky for example. Where
	// something is offered beside it no task goes on between two claims. It has to be empty where Sarama names strategies: those are
	// offered then, and the library's own is not.
	OfferAlso []sarama.BalanceStrategy
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
	// Hooks are values that implement hook interfaces of this package or of package handler. One that implements none is refused, and one
	// with a method that has the name of a hook's and other parameters.
	Hooks []any
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Logger = c.Logger.With(slog.String("group", c.Group))
	c.Brokers, c.Topics, c.Hooks = slices.Clone(c.Brokers), slices.Clone(c.Topics), slices.Clone(c.Hooks)
	return c
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
