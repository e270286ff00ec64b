package kit

import (
	"cmp"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// Slack is what a machine with two cores, a few brokers and the race detector may add to a bound that a scenario states.
const Slack = time.Second

// Place is a broker that tests can run on.
type Place struct {
	name  string
	open  func(testing.TB) kafkatest.Broker
	quiet bool
}

// Quietly is the places under the cooperative protocol alone: for what has no rebalance.
func Quietly(places []Place) []Place {
	places = slices.Clone(places)
	for i := range places {
		places[i].quiet = true
	}
	return places
}

// Fake is an in-process broker, one for each test.
var Fake = Place{name: "kfake", open: fake}

func fake(tb testing.TB) kafkatest.Broker {
	tb.Helper()
	return kafkatest.Fake(tb)
}

// Kafka is the real node of a version that the tests of a binary share.
func Kafka(s *kafkatest.Shared, version string) Place {
	return Place{name: "kafka-" + version, open: func(tb testing.TB) kafkatest.Broker {
		tb.Helper()
		return s.Kafka(tb, version)
	}}
}

// envVersion is the version of the one real node: the newest if it is not set.
const envVersion = "EVENKEEL_KAFKA_VERSION"

// Version is that of the real node on which the scenarios run that hold for every version.
func Version() string { return cmp.Or(os.Getenv(envVersion), kafkatest.Newest) }

// manySlots is more than the tasks that a scenario has, unless it says so.
const manySlots = 100

// At is a broker that a test has started itself, with options that no other test wants.
func At(name string, b kafkatest.Broker) Place {
	return Place{name: name, open: func(testing.TB) kafkatest.Broker { return b }}
}

// Setting is where and how a scenario runs.
type Setting struct {
	Broker kafkatest.Broker
	Eager  bool
	Order  handler.Order
}

// orders are all there are. Subtests have their names.
var orders = []handler.Order{handler.ByPartition, handler.ByKey, handler.None}

// EachOrder is [Each] for each order of messages.
func EachOrder(t *testing.T, f func(t *testing.T, s Setting), places ...Place) {
	t.Helper()
	eachOf(t, orders, f, places)
}

// EachFanned is [EachOrder] for the orders in which several tasks of a partition run at once.
func EachFanned(t *testing.T, f func(t *testing.T, s Setting), places ...Place) {
	t.Helper()
	eachOf(t, orders[1:], f, places)
}

func eachOf(t *testing.T, orders []handler.Order, f func(t *testing.T, s Setting), places []Place) {
	t.Helper()
	t.Parallel()
	for _, o := range orders {
		t.Run(o.String(), func(t *testing.T) {
			Each(t, func(t *testing.T, s Setting) {
				s.Order = o
				f(t, s)
			}, places...)
		})
	}
}

// Each runs f as a subtest on each place under each protocol, all in parallel, also to the other tests.
func Each(t *testing.T, f func(t *testing.T, s Setting), places ...Place) {
	t.Helper()
	t.Parallel()
	for _, p := range places {
		for protocol, eager := range map[string]bool{"eager": true, "cooperative": false} {
			if eager && p.quiet {
				continue
			}
			t.Run(p.name+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				f(t, Setting{Broker: p.open(t), Eager: eager})
			})
		}
	}
}

// Group makes a topic and names a group. Its members have tasks of ten minutes to expect, R and S of 10 s, and a heartbeat of 250 ms.
// Shorter ones would make a member that gets no processor for a few seconds lose its membership. With an order by key and with none they
// have slots for all that a partition lets them start, and with order by key its messages have three keys in turn.
func (s Setting) Group(t *testing.T, partitions int32) *Group {
	t.Helper()
	g := &Group{
		History: &History{}, Broker: s.Broker, Topic: kafkatest.Name(t), Partitions: partitions, Order: s.Order, t: t, produced: map[int32]int{},
		Input: config.Input{
			Expected: 10 * time.Minute, CrashDetection: 10 * time.Second, Heartbeat: 250 * time.Millisecond, Eager: s.Eager, HoldLimit: config.NoHold,
		},
	}
	g.Name = g.Topic
	if s.Order != handler.ByPartition {
		g.Slots = manySlots
	}
	if s.Order == handler.ByKey {
		g.Keys = 3
	}
	if err := s.Broker.CreateTopic(g.Topic, partitions); err != nil {
		t.Fatal(err)
	}
	return g
}
