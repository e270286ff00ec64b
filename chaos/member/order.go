// Package member is one service of the laboratory: a process with a consumer in each group, whose tasks it makes up from the seed.
package member

import (
	"encoding/json"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/chaos/ledger"
	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

// Env makes the program a member: it holds the order, as JSON.
const Env = "EVENKEEL_CHAOS_MEMBER"

// Order is what a process is told.
type Order struct {
	Name    string         `json:"name"`
	Addrs   []string       `json:"addrs"`
	Version string         `json:"version"`
	Seed    uint64         `json:"seed"`
	Groups  []ledger.Group `json:"groups"`
}

func (o Order) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return string(data)
}

// The time that the laboratory gives what has a default of minutes elsewhere.
const (
	Session   = 6 * time.Second
	StopGrace = 4 * time.Second
	heartbeat = 500 * time.Millisecond
	refresh   = 5 * time.Second
)

// Plan derives the plan of a group. Tasks that take longer than the session timeout are not to be waited for.
func Plan(eager bool) (*config.Plan, error) {
	return config.Input{
		Expected: 2 * time.Second, Max: time.Minute, HoldLimit: time.Minute, Eager: eager, CrashDetection: Session, Heartbeat: heartbeat, MetadataRefresh: refresh,
		StopGrace: StopGrace, Broker: config.BrokerLimits{MinSessionTimeout: time.Second},
	}.Plan()
}

// NewGroup names a group, and writes down what is promised to it.
func NewGroup(name string, order handler.Order, eager bool, partitions int32, slots int) (ledger.Group, error) {
	p, err := Plan(eager)
	if err != nil {
		return ledger.Group{}, err
	}
	return ledger.Group{
		Name: name, Order: order.String(), Eager: eager, Partitions: partitions, Slots: slots,
		SessionTimeout: p.SessionTimeout, RebalanceTimeout: p.RebalanceTimeout, Heartbeat: p.HeartbeatInterval,
		Grace: p.Grace, StopGrace: p.StopGrace, Lease: p.Lease,
	}, nil
}

// orderOf is the order with that name.
func orderOf(name string) handler.Order {
	for _, o := range []handler.Order{handler.ByKey, handler.None} {
		if o.String() == name {
			return o
		}
	}
	return handler.ByPartition
}

// saramaConfig is the base of a member's configuration.
func (o Order) saramaConfig() (*sarama.Config, error) {
	version, err := sarama.ParseKafkaVersion(o.Version)
	if err != nil {
		return nil, err
	}
	conf := sarama.NewConfig()
	conf.Version, conf.ClientID = version, o.Name
	return conf, nil
}
