package consumer

import (
	"time"

	"github.com/evenkeel-go/evenkeel/internal/lease"
)

// clocks are one lease by two clocks. By the monotonic one it is over; by the wall clock it is in doubt: a machine that was suspended may
// not have counted the time, and one whose clock was set has done nothing wrong. Those who share it bring the lock.
type clocks struct {
	terms    lease.Terms
	wall     func() time.Time
	lease    *lease.Lease
	byWall   *lease.Lease
	lastGood time.Time // when the last good heartbeat was sent
}

// moment is a point in time by both.
type moment struct{ at, wall time.Time }

func (m moment) less(d time.Duration) moment { return moment{m.at.Add(-d), m.wall.Add(-d)} }

func newClocks(t lease.Terms) *clocks {
	c := &clocks{terms: t, wall: wallClock}
	now := c.now()
	c.lease, c.byWall, c.lastGood = lease.New(t, now.at), lease.New(t, now.wall), now.at
	return c
}

// wallClock is the time without the monotonic clock.
func wallClock() time.Time { return time.Now().Round(0) }

func (c *clocks) now() moment { return moment{time.Now(), c.wall()} }

// good and rebalancing take an answer to what was sent in a moment, as those of [lease.Lease] do.
func (c *clocks) good(sent moment) {
	c.lease.Good(sent.at)
	c.byWall = lease.New(c.terms, sent.wall) // whatever it was before: the clock may have been put back
	c.heard(sent)
}

func (c *clocks) rebalancing(sent moment, joining bool) {
	c.lease.Rebalancing(sent.at, joining)
	c.byWall.Rebalancing(sent.wall, joining)
	c.heard(sent)
}

func (c *clocks) heard(sent moment) {
	if sent.at.After(c.lastGood) {
		c.lastGood = sent.at
	}
}

func (c *clocks) end() time.Time { return c.lease.End() }

func (c *clocks) over() bool { return !time.Now().Before(c.lease.End()) }

func (c *clocks) inDoubt() bool { return !c.wall().Before(c.byWall.End()) }
