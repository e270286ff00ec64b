package group_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// G1: members join, leave and are expelled at random moments, with handlers of every kind, while messages keep coming.
func TestNothingIsLostWhateverMembersDo(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		c := &crowd{Group: s.Group(t, 6)}
		c.Input.StopGrace = config.NoGrace
		enough := feed(c.Group)
		for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(upTo(1000)) {
			c.change(t)
		}
		enough()
		c.hurry.Store(true)
		if len(c.live) == 0 {
			c.join()
		}
		c.UntilAllHandled()
		for _, m := range c.live {
			m.Stop()
		}
		for i := range c.joined {
			wantNoOverlap(c.Group, nameOf(i))
		}
	}, kafka())
}

// crowd is a group whose members come and go.
type crowd struct {
	*kit.Group
	live   []*kit.Member
	joined int
	hurry  atomic.Bool // tasks end at once
}

func nameOf(i int) string { return fmt.Sprint("m", i) }

func (c *crowd) join() {
	c.live = append(c.live, c.Start(nameOf(c.joined), c.work))
	c.joined++
}

// change does one thing to the group.
func (c *crowd) change(t *testing.T) {
	t.Helper()
	kind := rand.IntN(8)
	switch {
	case len(c.live) < 2 || kind < 4 && len(c.live) < 5:
		c.join()
	case kind < 7:
		i := rand.IntN(len(c.live))
		c.live[i].BeginStop()
		c.live = slices.Delete(c.live, i, i+1)
	default:
		if m := c.live[0]; m.Status().MemberID != "" {
			c.Note("%s is expelled", m.Name)
			leaveInItsName(t, c.Group, m)
		}
	}
}

var errAtRandom = errors.New("failed at random")

// work takes up to 200 ms. Some calls fail, some ignore their context, and some succeed although it has ended.
func (c *crowd) work(ctx context.Context, _ *handler.Task) error {
	if c.hurry.Load() {
		return nil
	}
	cancelled := ctx.Done()
	switch rand.IntN(20) {
	case 0:
		return errAtRandom
	case 1:
		cancelled = nil
	}
	select {
	case <-time.After(upTo(200)):
		return nil
	case <-cancelled:
		if rand.IntN(2) == 0 {
			return nil
		}
		return context.Cause(ctx)
	}
}

// upTo is a random time of at most that many milliseconds.
func upTo(ms int) time.Duration { return time.Duration(rand.IntN(ms)) * time.Millisecond }
