package group_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// G1, G2: members join, leave, are expelled, cut off and killed at random moments, with handlers of every kind, while messages keep coming.
func TestNothingIsLostWhateverMembersDo(t *testing.T) {
	t.Parallel()
	node := kafkatest.Kafka(t, kafkatest.Options{Version: kit.Version(), Links: soakLinks()})
	var adopted atomic.Int64 // by eager crews, whose sessions all end in each rebalance
	t.Run("orders", func(t *testing.T) {
		kit.EachOrder(t, func(t *testing.T, s kit.Setting) {
			n := soak(t, s)
			if s.Eager {
				adopted.Add(int64(n))
			}
		}, kit.At("kafka-"+kit.Version(), node))
	})
	t.Cleanup(func() { // once all are done
		if t.Logf("running tasks were taken over %d times", adopted.Load()); adopted.Load() == 0 {
			t.Error("no running task was taken over: the checker has seen no adoption")
		}
	})
}

// soak returns how often running tasks were taken over from a claim before.
func soak(t *testing.T, s kit.Setting) (adopted int) {
	c := newCrowd(t, s)
	enough := feed(c.Group)
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(upTo(1000)) {
		c.change(t)
	}
	c.killed.Kill()
	must(t, c.link.Restore())
	enough()
	c.gate.Open()
	if len(c.live) == 0 {
		c.join()
	}
	c.UntilAllHandled()
	for _, m := range c.live {
		m.Stop()
	}
	c.WantSound(nil)
	return c.Count(kit.Logged, kit.Saying("are taken over from the claim before"))
}

// crowd is a group whose members come and go.
type crowd struct {
	*kit.Group
	live   []*kit.Member
	killed *kit.Process // or to be killed: it joins at the begin
	link   *kafkatest.Link
	joined int
	gate   *kit.Gate // tasks end at once when it is open
}

func newCrowd(t *testing.T, s kit.Setting) *crowd {
	t.Helper()
	c := &crowd{Group: s.Group(t, 6), gate: kit.NewGate(), link: s.Broker.(kafkatest.Linked).Link(soakLink(s.Order, s.Eager))}
	t.Cleanup(func() { _ = c.link.Restore() })
	c.Input.StopGrace, c.Input.CrashDetection, c.Slots = config.NoGrace, 6*time.Second, min(c.Slots, 12)
	c.Watch()
	c.killed = c.StartProcess("killed", "at random")
	return c
}

func soakLink(o handler.Order, eager bool) string { return strings.ToUpper(fmt.Sprint(o, "-", eager)) }

func soakLinks() (names []string) {
	for _, o := range []handler.Order{handler.ByPartition, handler.ByKey, handler.None} {
		names = append(names, soakLink(o, true), soakLink(o, false))
	}
	return names
}

// join starts a member, each second one behind the link.
func (c *crowd) join() {
	change := func(conf *consumer.Config) { conf.Retry = retry.Policy{Initial: 50 * time.Millisecond} }
	if c.joined%2 == 1 {
		change = func(conf *consumer.Config) {
			throughLink(c.link)(conf)
			conf.Retry = retry.Policy{Initial: 50 * time.Millisecond}
		}
	}
	c.live = append(c.live, c.Start(fmt.Sprint("m", c.joined), atRandom(c.gate), change))
	c.joined++
}

// change does one thing to the group.
func (c *crowd) change(t *testing.T) {
	t.Helper()
	kind := rand.IntN(20)
	switch {
	case len(c.live) < 2 || kind < 8 && len(c.live) < 5:
		c.join()
	case kind < 14:
		i := rand.IntN(len(c.live))
		c.live[i].BeginStop()
		c.live = slices.Delete(c.live, i, i+1)
	case kind < 16:
		c.Note("the link is cut")
		c.link.Cut()
	case kind < 18:
		c.Note("the link is whole")
		must(t, c.link.Restore())
	case kind < 19:
		c.killed.Kill() // at the end at the latest
	default:
		if m := c.live[0]; m.Status().MemberID != "" {
			c.Expel(m)
			leaveInItsName(t, c.Group, m)
		}
	}
}

var errAtRandom = errors.New("failed at random")

// atRandom is a handler that takes up to 200 ms, and each third time longer than a rebalance. Some calls fail, some ignore their context, and
// some succeed although it has ended.
func atRandom(hurry *kit.Gate) handler.Func {
	return func(ctx context.Context, _ *handler.Task) error {
		cancelled := ctx.Done()
		select {
		case <-hurry.Opened():
			return nil
		default:
		}
		switch rand.IntN(20) {
		case 0:
			return errAtRandom
		case 1:
			cancelled = nil
		}
		select {
		case <-time.After(atLength()):
			return nil
		case <-cancelled:
			if rand.IntN(2) == 0 {
				return nil
			}
			return context.Cause(ctx)
		}
	}
}

func atLength() time.Duration {
	if rand.IntN(3) == 0 {
		return time.Second + upTo(2000)
	}
	return upTo(200)
}

// upTo is a random time of at most that many milliseconds.
func upTo(ms int) time.Duration { return time.Duration(rand.IntN(ms)) * time.Millisecond }
