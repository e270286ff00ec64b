package contract_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

var (
	membersSeeds = flag.Uint64("members", 15, "how many fixed seeds TestRandomMembers takes, from 0")
	membersSeed  = flag.Uint64("members.seed", 0, "one more seed of TestRandomMembers; 0 takes a new one each time")
)

// TestRandomMembers has members join and leave a group at random while tasks of up to more than the hold limit run, and checks that none of
// these is lost for it, that nothing overlaps or runs twice, and that the group settles: all is done, the partitions are spread evenly, and
// nobody asks for more rounds.
func TestRandomMembers(t *testing.T) {
	for seed := range *membersSeeds {
		randomMembersOf(t, seed)
	}
	if *membersSeed == 0 {
		*membersSeed = rand.Uint64()
	}
	randomMembersOf(t, *membersSeed)
}

// randomMembersOf names the run by its seed, so that a failure tells which one to repeat.
func randomMembersOf(t *testing.T, seed uint64) {
	t.Helper()
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { newCrowd(t, seed).run() })
	})
}

const (
	crowdPartitions = 6
	crowdHoldLimit  = time.Hour
	// roundsToSettle is how many rounds the group may take once nobody joins or leaves. Each task that ends on a marked partition may need one.
	roundsToSettle = 40
	// longestToSettle is more than all that waits can take, one after the other on its partition.
	longestToSettle = 72 * time.Hour
)

// crowd is a group whose members come and go.
type crowd struct {
	t        *testing.T
	seed     uint64
	dice     *rand.Rand
	cluster  *fakegroup.Cluster
	eager    bool
	mixed    bool // some of the members hold nothing: their tasks are cancelled where a partition moves
	order    handler.Order
	members  []*peer // that are in the group
	names    int
	produced int
	watch    *watch
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	dice := rand.New(rand.NewPCG(seed, 1))
	c := &crowd{t: t, seed: seed, dice: dice, cluster: fakegroup.NewCluster(), eager: dice.IntN(2) == 0, mixed: dice.IntN(4) == 0}
	if c.order = handler.ByPartition; dice.IntN(3) == 0 {
		c.order = handler.Order(dice.IntN(3))
	}
	c.watch = newWatch(t, c.order)
	c.cluster.CreateTopic(peerTopic, crowdPartitions)
	return c
}

// input has heartbeats and timeouts as long as they may be, so that days of the group take a moment.
func (c *crowd) input() config.Input {
	in := config.Input{
		Expected: 20 * time.Minute, Max: crowdHoldLimit, Eager: c.eager, StopGrace: config.NoGrace,
		Heartbeat: 30 * time.Second, CrashDetection: 2 * time.Minute,
	}
	if c.mixed && c.dice.IntN(3) == 0 {
		in.HoldLimit = config.NoHold
	}
	return in
}

func (c *crowd) run() {
	defer c.leaveAll()
	c.join()
	for range 14 {
		c.produce()
		time.Sleep(c.while())
		if c.change(); c.t.Failed() {
			return
		}
	}
	c.produce()
	c.settle()
}

// while is sometimes less than a round takes.
func (c *crowd) while() time.Duration {
	most := []time.Duration{10 * time.Second, 5 * time.Minute, time.Hour}[c.dice.IntN(3)]
	return time.Duration(c.dice.Int64N(int64(most)))
}

func (c *crowd) produce() {
	for range c.dice.IntN(12) {
		c.cluster.Produce(peerTopic, int32(c.dice.IntN(crowdPartitions)), []byte{byte(c.dice.IntN(4))}, []byte("v"))
		c.produced++
	}
}

// change lets a member join, or leave, or neither.
func (c *crowd) change() {
	n := len(c.members)
	switch {
	case n < 2 || n < 5 && c.dice.IntN(2) == 0:
		c.join()
	case c.dice.IntN(2) == 0:
		c.leave(c.dice.IntN(n))
	}
}

func (c *crowd) join() {
	in := c.input()
	m := &watched{watch: c.watch, name: strconv.Itoa(c.names), holds: in.HoldLimit != config.NoHold}
	c.names++
	c.watch.note("%s joins, and holds %v", m.name, m.holds)
	o := handler.Options{Order: c.order}
	if c.order != handler.ByPartition {
		o.Slots = 3
	}
	p := newPeer(c.t, c.cluster, m.name, in, o, func(ctx context.Context, task *handler.Task) error { return c.handle(ctx, m, task) })
	p.watched = m
	c.members = append(c.members, p)
}

func (c *crowd) leave(i int) {
	m := c.members[i]
	m.watched.leaves()
	m.stop()
	c.members = append(c.members[:i], c.members[i+1:]...)
}

func (c *crowd) leaveAll() {
	for len(c.members) > 0 {
		c.leave(0)
	}
}

// handle takes as long as the seed says for the message.
func (c *crowd) handle(ctx context.Context, m *watched, task *handler.Task) error {
	m.start(task)
	dice := rand.New(rand.NewPCG(c.seed, 2+uint64(task.Offset)<<8|uint64(task.Partition)))
	takes := time.Duration(dice.Int64N(int64(crowdHoldLimit / 3 * 4)))
	if dice.IntN(3) == 0 {
		takes /= 100
	}
	var err error
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	m.end(task, err)
	return err
}

// settle leaves the group alone until all is done, and for some more time then.
func (c *crowd) settle() {
	c.watch.note("nobody joins or leaves any more")
	before := c.generation()
	for begin := time.Now(); c.watch.done() < c.produced && time.Since(begin) < longestToSettle; {
		time.Sleep(time.Hour)
	}
	time.Sleep(time.Hour)
	if n := c.watch.done(); n != c.produced {
		c.watch.fail("%d of %d messages are done", n, c.produced)
	}
	settled := c.generation()
	time.Sleep(2 * time.Hour)
	if after := c.generation(); settled-before > roundsToSettle || after != settled {
		c.watch.fail("a storm: %d rounds to settle, and %d more after that", settled-before, after-settled)
	}
	c.wantBalanced()
}

func (c *crowd) generation() int32 {
	_, generation := c.cluster.GroupState(peerGroup)
	return generation
}

func (c *crowd) wantBalanced() {
	least, most, sum := crowdPartitions, 0, 0
	for _, m := range c.members {
		n := len(m.Status().Claims)
		least, most, sum = min(least, n), max(most, n), sum+n
	}
	if most-least > 1 || sum != crowdPartitions {
		c.watch.fail("not balanced: %d members have from %d to %d partitions, %d together", len(c.members), least, most, sum)
	}
}
