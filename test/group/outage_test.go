package group_test

import (
	"cmp"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// envOutage says how long B39 keeps the brokers down: 15s if it is not set, where the scenario has 60s.
const envOutage = "EVENKEEL_OUTAGE"

func outageTime(t *testing.T) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(cmp.Or(os.Getenv(envOutage), "15s"))
	must(t, err)
	return d
}

// B39, for brokers that are gone, and then for brokers that are there and say nothing.
func TestB39AllBrokersAreDownForAWhile(t *testing.T) {
	t.Parallel()
	node := kafkatest.Kafka(t, kafkatest.Options{Version: kit.Version()})
	if tries := outage(t, node, node.Kill, func() error { return node.Start(t.Context()) }); tries == 0 {
		t.Error("nobody tried and paused")
	}
	outage(t, node, node.Pause, node.Resume) // silence takes so long to notice that there may be no second try
}

// outage takes the only broker away in the middle of tasks, and brings it back after a while. Two members live through it, two start
// in it, and two stop in it. It returns how many tries they told of.
func outage(t *testing.T, node *kafkatest.Node, down, up func() error) (tries int) {
	t.Helper()
	var through, within, leaving []*crew
	for _, eager := range []bool{true, false} {
		s := kit.Setting{Broker: node, Eager: eager}
		through, within, leaving = append(through, newCrew(t, s)), append(within, newCrew(t, s)), append(leaving, newCrew(t, s))
	}
	for _, c := range append(through, leaving...) {
		c.start()
		c.UntilSeen(1, kit.Started)
		c.UntilSeen(1, kit.Committed, kit.AtOffset(0))
	}
	must(t, down())
	begin := time.Now()
	for _, c := range within {
		c.start()
	}
	for _, c := range leaving {
		c.stopInVain()
	}
	time.Sleep(outageTime(t) - time.Since(begin)) // the scenario's own time
	must(t, up())
	end := time.Now()
	for _, c := range append(through, within...) {
		tries += c.wantPatience(begin, end)
		c.resume(end)
	}
	return tries
}

// crew is a member with two messages on one partition.
type crew struct {
	*kit.Group
	gate *kit.Gate
	m    *kit.Member
}

func newCrew(t *testing.T, s kit.Setting) *crew {
	t.Helper()
	c := &crew{Group: s.Group(t, 1), gate: kit.NewGate()}
	c.Input.CrashDetection = 6 * time.Second
	c.Produce(2)
	return c
}

func (c *crew) start() { c.m = c.Start("a", c.gate.Hold) }

// stopInVain stops the member when no broker can be told, which takes 6 s at most.
func (c *crew) stopInVain() {
	begin := c.m.BeginStop()
	c.WantWithin("a stop without brokers", begin, c.m.AwaitStop(), 6*time.Second)
	c.WantAtMost(0, kit.Committed, kit.From(1))
}

// resume waits for the member to consume again, within 30 s: nothing is lost, and the interrupted task runs once more at most.
func (c *crew) resume(up time.Time) {
	started := c.UntilSeen(1, kit.Started, kit.After(up))[0]
	c.WantWithin("until it consumes again", up, started.At, 30*time.Second)
	c.gate.Open()
	c.UntilAllHandled()
	c.WantAtMost(2, kit.Started, kit.AtOffset(0))
	c.WantAtMost(1, kit.Started, kit.AtOffset(1))
	c.m.Stop()
}

var retryIn = regexp.MustCompile(`try=(\d+) retry_in=(\S+)`)

// wantPatience wants the pauses between tries to grow and to be capped, and few lines in the log. It returns how many tries there were.
func (c *crew) wantPatience(down, up time.Time) (tries int) {
	lines := c.Find(kit.Logged, kit.After(down), kit.Before(up))
	if most := 20; len(lines) > most {
		c.Errorf("%d lines in the log in %v, want at most %d", len(lines), up.Sub(down), most)
	}
	last := 0
	for _, l := range lines {
		found := retryIn.FindStringSubmatch(l.Text)
		if found == nil {
			continue
		}
		try, _ := strconv.Atoi(found[1])
		pause, _ := time.ParseDuration(found[2])
		if full := min(250*time.Millisecond<<(try-1), 10*time.Second); try <= last || pause > full || pause < full/2 {
			c.Errorf("pause of %v after try %d, want %v to %v and tries that count up from %d", pause, try, full/2, full, last)
		}
		last = try
		tries++
	}
	return tries
}

// B42, for a coordinator that is stopped in order, one that is killed and one that freezes. One after the other: two nodes down would
// be one too many. The tasks run from before the outage to long after.
func TestB42TheCoordinatorMovesInMidTask(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	start := func(n *kafkatest.Node) error { return n.Start(t.Context()) }
	both := []bool{false, true}
	move(t, cluster, func(n *kafkatest.Node) error { return n.Stop(t.Context()) }, start, both)
	move(t, cluster, (*kafkatest.Node).Kill, start, both)
	move(t, cluster, (*kafkatest.Node).Pause, (*kafkatest.Node).Resume, both[:1]) // a member that begins waits for the frozen node
}

func move(t *testing.T, cluster *kafkatest.NodeCluster, down, up func(*kafkatest.Node) error, restless []bool) {
	t.Helper()
	var groups []*moved
	for _, r := range restless {
		for _, order := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
			for _, eager := range []bool{true, false} {
				groups = append(groups, newMoved(t, kit.Setting{Broker: cluster, Eager: eager, Order: order}, r))
			}
		}
	}
	coordinator := groups[0].at() // of all
	must(t, down(coordinator))
	groups[0].moves(coordinator)
	for _, g := range groups {
		g.survive()
	}
	must(t, up(coordinator))
	for _, g := range groups {
		g.finish()
	}
}

// perMoved is how many messages each partition of a moved has.
const perMoved = 4

// moved is a group whose coordinator goes down.
type moved struct {
	*crew
	running  int // tasks, before the gate is open
	cluster  *kafkatest.NodeCluster
	restless bool // another member joins as soon as there is another coordinator
	other    string
	b        *kit.Member
}

func newMoved(t *testing.T, s kit.Setting, restless bool) *moved {
	t.Helper()
	g := &moved{crew: &crew{Group: s.Group(t, 3), gate: kit.NewGate()}, cluster: s.Broker.(*kafkatest.NodeCluster), restless: restless}
	g.other = g.Topic + "-other"
	must(t, g.Broker.CreateTopic(g.other, 1))
	for offsetsPartition(g.Name) != 0 {
		g.Name = kafkatest.Name(t)
	}
	g.Input.CrashDetection = 30 * time.Second
	g.Produce(perMoved)
	g.running = 3 * g.AtOnce(perMoved)
	g.start()
	g.UntilSeen(g.running, kit.Started)
	for p := range int32(3) {
		g.UntilSeen(1, kit.Committed, kit.OnPartition(p), kit.AtOffset(0))
	}
	return g
}

// offsetsPartition is the partition that keeps a group's offsets, of the five that there are: the coordinator is its leader.
func offsetsPartition(group string) int32 {
	hash := int32(0)
	for _, c := range group {
		hash = 31*hash + c
	}
	return (hash & math.MaxInt32) % 5
}

// at is the node that coordinates the group.
func (g *moved) at() *kafkatest.Node {
	n, err := g.cluster.Coordinator(g.Name)
	if err != nil {
		g.Fatalf("%v", err)
	}
	return n
}

// moves waits for another coordinator, which is one for all groups.
func (g *moved) moves(old *kafkatest.Node) {
	down := g.Note("the coordinator is down")
	g.Until("there is another coordinator", func() bool { return g.at() != old })
	g.WantWithin("until there is another coordinator", down, time.Now(), g.Plan().SessionTimeout)
}

// survive lets the tasks end and waits for their commits at the other coordinator.
func (g *moved) survive() {
	if g.restless {
		g.disturb()
	}
	end := g.Note("the tasks may end")
	g.gate.Open()
	g.UntilAllHandled()
	stored, _ := g.Last(kit.Committed)
	g.WantWithin("until the last commit", end, stored.At, g.Plan().SessionTimeout)
}

// disturb lets another member join. Under eager the session ends, and the next one takes the tasks over by what a coordinator says that has
// just taken over (G4).
func (g *moved) disturb() {
	before := g.m.Status().Rebalances
	g.b = g.Start("b", g.gate.Hold, func(c *consumer.Config) { c.Topics = []string{g.other} })
	g.Until("the member works on all again", func() bool {
		s := g.m.Status()
		return s.Rebalances > before && s.Running == g.running && len(g.m.Owns()) == 3
	})
}

// finish stops the member: it was in one session all the time, if nobody joined, and each task ran once.
func (g *moved) finish() {
	if g.restless {
		g.b.Stop()
	}
	g.m.Stop()
	g.WantAtMost(3*perMoved, kit.Started)
	if !g.restless {
		g.WantAtMost(1, kit.Ended, kit.By("a"))
	}
	g.WantAtMost(0, kit.Cancelled)
	g.WantSound(nil)
}
