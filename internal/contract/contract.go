// Package contract is one suite of tests for everything that evenkeel can run on: the group in memory, the in-process broker and
// real Kafka. What holds on one of them has to hold on all, under both rebalance protocols; that is what keeps the fakes honest.
//
// The cases use no clock to synchronise. A task lasts until its case lets it go, and a case waits for conditions.
package contract

import (
	"testing"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// Cluster is what a case needs of a Kafka.
type Cluster interface {
	CreateTopic(topic string, partitions int32) error
	Produce(topic string, partition int32, values ...string) error
	Committed(group, topic string, partition int32) (offset int64, metadata string, err error)
	// Consumer makes a member. cfg lacks the way to the cluster. The returned function releases what was made beside it, after Run.
	Consumer(cfg consumer.Config, h handler.Handler) (*consumer.Consumer, func(), error)
	// Name returns a name that is unique on this cluster.
	Name(t *testing.T) string
}

// Suite says what to run on.
type Suite struct {
	// New returns the cluster of one case.
	New func(t *testing.T) Cluster
	// Around runs a case, in a bubble of virtual time for example. Nil calls it.
	Around func(t *testing.T, test func(t *testing.T))
	// Parallel runs the cases at once. Not for virtual time.
	Parallel bool
}

// protocols are the names of the subtests.
var protocols = map[string]bool{"eager": true, "cooperative": false}

// Run runs every case under both protocols.
func (s Suite) Run(t *testing.T) {
	for name, eager := range protocols {
		t.Run(name, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { s.one(t, c.test, eager) })
			}
		})
	}
}

func (s Suite) one(t *testing.T, test func(*rig), eager bool) {
	if s.Parallel {
		t.Parallel()
	}
	around := s.Around
	if around == nil {
		around = func(t *testing.T, test func(*testing.T)) { test(t) }
	}
	around(t, func(t *testing.T) { test(newRig(t, s.New(t), eager)) })
}

// cases are named after what they prove, with the scenario or guarantee they belong to.
var cases = []struct {
	name string
	test func(*rig)
}{
	{"G1EveryMessageIsHandledAndCommitted", everyMessage},
	{"G6OrderHoldsInEachPartition", orderHolds},
	{"B21AFailedMessageIsNeverPassedOver", neverPassedOver},
	{"B17APanicTakesNothingElseDown", panicAlone},
	{"B13ANewcomerDoesNotWaitForALongTask", newcomer},
	{"B14AStubbornTaskIsLeftBehind", stubborn},
	{"B15ARetryPauseHoldsNoRebalanceUp", retryPause},
	{"B24AStopLeavesExactlyTheUnfinished", cleanStop},
	{"B26EachSuccessIsCommittedAtOnce", committedAtOnce},
	{"B30ConsumptionGoesOnAfterEveryChange", goesOn},
	{"B35aAStopWaitsForATaskThatEndsInTheGrace", stopInGrace},
	{"B35bAStopCancelsATaskThatDoesNot", stopCancels},
	{"B35cAnIdleMemberStopsAndItsPartitionsMove", stopIdle},
	{"G8ACancellationIsNoFailure", cancellation},
}
