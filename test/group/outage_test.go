package group_test

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

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

// B39. The only broker is killed in the middle of tasks and stays down for a while. Two members live through it, and two start in it.
func TestB39AllBrokersAreDownForAWhile(t *testing.T) {
	t.Parallel()
	const recovery = 30 * time.Second
	node := kafkatest.Kafka(t, kafkatest.Options{})
	var through, within []*crew
	for _, eager := range []bool{true, false} {
		through = append(through, newCrew(t, kit.Setting{Broker: node, Eager: eager}))
		within = append(within, newCrew(t, kit.Setting{Broker: node, Eager: eager}))
	}
	for _, c := range through {
		c.start("through")
		c.UntilSeen(1, kit.Started)
		c.UntilSeen(1, kit.Committed, kit.AtOffset(0))
	}

	must(t, node.Kill())
	down := time.Now()
	for _, c := range within {
		c.start("within")
	}
	time.Sleep(outageTime(t)) // the scenario's own time
	must(t, node.Start(t.Context()))
	up := time.Now()

	for _, c := range append(through, within...) {
		c.Note("down %v ago, up %v ago", time.Since(down), time.Since(up))
		c.wantPatient(down, up)
		started := c.UntilSeen(1, kit.Started, kit.After(up))[0]
		c.WantWithin("until it consumes again", up, started.At, recovery)
		c.gate.Open()
		c.UntilAllHandled()
		c.WantAtMost(2, kit.Started, kit.AtOffset(0))
		c.WantAtMost(1, kit.Started, kit.AtOffset(1))
		c.m.Stop()
	}
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
	c.Produce(2)
	return c
}

func (c *crew) start(name string) { c.m = c.Start(name, c.gate.Hold) }

var retryIn = regexp.MustCompile(`try=(\d+) retry_in=(\S+)`)

// wantPatient wants tries between down and up with pauses that grow and are capped, and few lines about them.
func (c *crew) wantPatient(down, up time.Time) {
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
	}
	if last == 0 {
		c.Errorf("no try and no pause is in the log")
	}
}

// B42, for a coordinator that is stopped in order and one that is killed, one after the other: two nodes down would be one too many.
// The tasks run from before the outage to long after.
func TestB42TheCoordinatorMovesInMidTask(t *testing.T) {
	t.Parallel()
	cluster := shared.Cluster(t)
	move(t, cluster, func(n *kafkatest.Node) error { return n.Stop(t.Context()) })
	move(t, cluster, (*kafkatest.Node).Kill)
}

func move(t *testing.T, cluster *kafkatest.NodeCluster, down func(*kafkatest.Node) error) {
	t.Helper()
	coordinator, err := cluster.Coordinator("any group")
	must(t, err)
	var groups []*moved
	for _, eager := range []bool{true, false} {
		groups = append(groups, newMoved(t, kit.Setting{Broker: cluster, Eager: eager}, coordinator))
	}
	must(t, down(coordinator))
	at := time.Now()
	for _, g := range groups {
		g.survive(at)
	}
	must(t, coordinator.Start(t.Context()))
	for _, g := range groups {
		g.finish()
	}
}

// moved is a group whose coordinator goes down.
type moved struct {
	*crew
	cluster     *kafkatest.NodeCluster
	coordinator *kafkatest.Node
}

func newMoved(t *testing.T, s kit.Setting, coordinator *kafkatest.Node) *moved {
	t.Helper()
	g := &moved{crew: &crew{Group: s.Group(t, 3), gate: kit.NewGate()}, cluster: s.Broker.(*kafkatest.NodeCluster), coordinator: coordinator}
	g.Input.CrashDetection = 30 * time.Second
	for i := 0; g.at() != coordinator; i++ {
		g.Name = fmt.Sprint(g.Topic, "-", i)
	}
	g.Produce(2)
	g.start("a")
	g.UntilSeen(3, kit.Started)
	for p := range int32(3) {
		g.UntilSeen(1, kit.Committed, kit.OnPartition(p), kit.AtOffset(0))
	}
	return g
}

// at is the node that coordinates the group.
func (g *moved) at() *kafkatest.Node {
	n, err := g.cluster.Coordinator(g.Name)
	if err != nil {
		g.Fatalf("%v", err)
	}
	return n
}

// survive waits for another coordinator, and then for a commit on it.
func (g *moved) survive(down time.Time) {
	g.Until("there is another coordinator", func() bool { return g.at() != g.coordinator })
	found := g.Note("another coordinator")
	g.WantWithin("until there is another coordinator", down, found, g.Plan().SessionTimeout)
	g.gate.Open()
	g.UntilAllHandled()
	stored, _ := g.Last(kit.Committed)
	g.WantWithin("from another coordinator to the last commit", found, stored.At, g.Plan().SessionTimeout)
}

// finish stops the member: it was in one session all the time, and each task ran once.
func (g *moved) finish() {
	g.m.Stop()
	g.WantAtMost(6, kit.Started)
	g.WantAtMost(1, kit.Ended)
	g.WantAtMost(0, kit.Cancelled)
}
