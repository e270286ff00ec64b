package data_test

import (
	"context"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/test/kit"
)

// B04. The message is that of a task of six hours; the session timeout is short because the test is.
func TestB04ADeadMemberIsReplacedWithinTheSessionTimeout(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.Input.Expected = 6 * time.Hour
		g.ProduceTo(0, 1)
		a := g.StartProcess("a", "hold")
		g.UntilSeen(1, kit.Started, kit.By("a"))
		gate := kit.NewGate()
		b := g.Start("b", gate.Hold)
		g.Until("b is a member", func() bool { return b.Status().Rebalances > 0 && stable(g, 2) })
		g.WantAtMost(0, kit.Started, kit.By("b"))

		killed := time.Now()
		a.Kill()
		started := g.UntilSeen(1, kit.Started, kit.By("b"), kit.AtOffset(0))[0]
		g.WantWithin("the same message starts", killed, started.At, g.Plan().SessionTimeout+oneRebalance)
		gate.Open()
		g.UntilAllHandled()
	}, everywhere()...)
}

// oneRebalance is how long a rebalance takes that waits for nobody: a few heartbeats.
const oneRebalance = time.Second

// B04. The stuck member is a plain sarama group whose claims never end. Under eager it fails to join when c comes, and is expelled
// after R. Under cooperative it has let nothing go for b either; c's join is what it does not answer.
// The in-process broker at times waits for longer than R.
func TestB04AStuckMemberHoldsUpTheOthersForR(t *testing.T) {
	onKafka(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 2)
		g.Sticky = true // as the stuck one
		g.Produce(1000)
		if s.Eager {
			b := g.Start("b", brief)
			g.Until("b owns both", func() bool { return len(b.Owns()) == 2 })
		}
		startStuck(t, g, s.Eager)
		if !s.Eager {
			b := g.Start("b", brief)
			g.Until("b is a member", func() bool { return b.Status().Rebalances > 0 })
		}
		begin := time.Now()
		g.Start("c", brief)
		for p := range g.Partitions {
			e := g.UntilSeen(1, kit.Started, kit.OnPartition(p), kit.After(begin))[0]
			g.WantWithin("a partition is consumed", begin, e.At, g.Plan().RebalanceTimeout+oneRebalance)
		}
	})
}

// startStuck runs a plain member until the end of the test, and returns when it holds a claim.
func startStuck(t *testing.T, g *kit.Group, eager bool) {
	t.Helper()
	conf, err := g.Plan().Apply(g.Broker.Config())
	if err != nil {
		t.Fatal(err)
	}
	group, err := sarama.NewConsumerGroup(g.Broker.Addrs(), g.Name, conf)
	if err != nil {
		t.Fatal(err)
	}
	h := &stuck{held: make(chan struct{}, 2), end: make(chan struct{})}
	done := make(chan struct{})
	go func() { // ends with h.end
		defer close(done)
		_ = group.Consume(context.Background(), []string{g.Topic}, h)
	}()
	t.Cleanup(func() {
		close(h.end)
		<-done
		_ = group.Close()
	})
	<-h.held
	if !eager {
		<-h.held
	}
	g.Note("the stuck one holds its claims")
}

// stuck is a handler that does nothing, for ever.
type stuck struct {
	held chan struct{} // 2: one a partition
	end  chan struct{}
}

func (s *stuck) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (s *stuck) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (s *stuck) ConsumeClaim(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error {
	s.held <- struct{}{}
	<-s.end
	return nil
}

// B26. The broker is asked after the process is dead, so what it says is what a restart finds.
func TestB26ASuccessIsCommittedBeforeACrashCanLoseIt(t *testing.T) {
	kit.EachOrder(t, crashAfterASuccess, everywhere()...)
}

func crashAfterASuccess(t *testing.T, s kit.Setting) {
	t.Helper()
	g := s.Group(t, 1)
	g.Input.CrashDetection = shortestSession
	g.ProduceTo(0, 2)
	a := g.StartProcess("a", "do one")
	done := g.UntilSeen(1, kit.Returned, kit.AtOffset(0))[0].At
	time.Sleep(time.Until(done.Add(300 * time.Millisecond)))
	a.Kill()
	if o := g.Committed(0); o != 1 {
		g.Errorf("committed at %d 300 ms after the success, want 1", o)
	}
	b := g.Start("b", instant)
	g.UntilAllHandled()
	g.WantAtMost(0, kit.Started, kit.By("b"), kit.AtOffset(0))
	b.Stop()
	g.WantSound(nil)
}

// B26. The commits are three, and each follows its success.
func TestB26EachSuccessIsCommittedByItself(t *testing.T) {
	kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		if g.Slots > 0 {
			g.Slots = 1 // one after the other
		}
		g.ProduceTo(0, 3)
		m := g.Start("a", second)
		g.UntilAllHandled()
		m.Stop()
		for o := range int64(3) {
			success, _ := g.First(kit.Returned, kit.AtOffset(o), kit.Well())
			committed, ok := g.First(kit.Committed, kit.AtOffset(o+1))
			if !ok {
				g.Fatalf("no commit of offset %d", o+1)
			}
			g.WantWithin("the commit", success.At, committed.At, 300*time.Millisecond)
		}
	}, everywhere()...)
}

// B21. The process is killed while message 2 fails, after some attempts.
func TestB21AFailingMessageIsResumedAtAfterACrash(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := s.Group(t, 1)
		g.ProduceTo(0, 5)
		a := g.StartProcess("a", "fail at 2")
		g.UntilSeen(2, kit.Started, kit.AtOffset(2))
		a.Kill()
		if o := g.Committed(0); o != 2 {
			g.Errorf("committed at %d, want 2", o)
		}
		g.WantAtMost(0, kit.Started, kit.From(3))
		b := g.Start("b", instant)
		g.UntilAllHandled()
		b.Stop()
		if first, ok := g.First(kit.Started, kit.By("b")); !ok || first.Offset != 2 {
			g.Errorf("delivery resumed at %d, want 2", first.Offset)
		}
	}, everywhere()...)
}
