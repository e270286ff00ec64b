package handler

import (
	"log/slog"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// spareRunners is how many idle runners are kept for the next burst.
const spareRunners = 16

// pool runs the tasks of all claims of a member. Runners pull runs of ready messages under its one short lock; claim loops put
// messages in and take results out under the same lock. Nothing is called and no channel is used while it is held.
type pool struct {
	handler Handler
	slots   int // 0: no limit but one a claim
	hooks   *hooks
	logger  *slog.Logger
	base    time.Time

	mu      sync.Mutex
	running int // runners
	idle    chan struct{}
	ring    schedule.Ring[*claim]
	spare   []*runner
	claims  map[Claim]*claim // that are held now
	strays  map[Claim]*claim // that were given up with a task still running
	counts  Counts           // of tasks that are settled
}

func newPool(h Handler, o Options) *pool {
	return &pool{
		handler: h, slots: o.Slots, hooks: sortHooks(o.Hooks, o.Logger), logger: o.Logger, base: time.Now(),
		claims: map[Claim]*claim{}, strays: map[Claim]*claim{},
	}
}

// now is the time since the pool began: half the price of time.Now.
func (p *pool) now() time.Duration { return time.Since(p.base) }

// readyLocked puts c into the ring if it has work that may start. A claim whose turn is not over goes to the front.
func (p *pool) readyLocked(c *claim, front bool) bool {
	if c.queued || !c.mayStartLocked() {
		return false
	}
	c.queued = true
	if front {
		p.ring.PushFront(c)
	} else {
		p.ring.Push(c)
	}
	return true
}

// startLocked puts c into the ring and starts a runner for it if a slot is free. A runner that makes a claim ready need not: it comes
// back for the next run itself. So there is a runner for each ready claim, or no slot is free.
func (p *pool) startLocked(c *claim) {
	if !p.readyLocked(c, false) || p.slots > 0 && p.running >= p.slots {
		return
	}
	p.running++
	r := p.runnerLocked()
	go r.loop() // ends when nothing is ready; GroupHandler.Wait waits for it
}

func (p *pool) runnerLocked() *runner {
	n := len(p.spare)
	if n == 0 {
		return &runner{pool: p}
	}
	r := p.spare[n-1]
	p.spare = p.spare[:n-1]
	return r
}

// retireLocked gives the slot of r back.
func (p *pool) retireLocked(r *runner) (idle chan struct{}) {
	p.running--
	if len(p.spare) < spareRunners {
		p.spare = append(p.spare, r)
	}
	return p.idleLocked()
}

// enterLocked makes c the claim of its partition. As long as a task of an earlier claim of it still runs, nothing starts: the
// tasks of a partition never overlap, not even with one that was given up.
func (p *pool) enterLocked(c *claim) {
	p.claims[c.key] = c
	if s := p.strays[c.key]; s != nil {
		c.before, s.after = s, c
	}
}

// closeLocked takes c out of service: what has not started is dropped, what has ended is settled, and what runs goes on. A runner
// that finds the end of the intake does it as well as the claim's loop.
func (p *pool) closeLocked(c *claim) {
	c.closed = true
	c.queue.Clear()
	if r := c.active; r != nil {
		r.cutLocked()
		r.settleLocked(r.n - 1)
	}
	if c.queued {
		c.queued = false
		p.ring.Remove(c)
	}
}

// leaveLocked ends c. A task that still runs is a stray from now on, and its result is dropped.
func (p *pool) leaveLocked(c *claim) (abandoned int) {
	c.left = true
	if p.claims[c.key] == c {
		delete(p.claims, c.key)
	}
	if c.flight > 0 {
		p.strays[c.key] = c
	}
	p.counts.Abandoned += int64(c.flight)
	return c.flight
}

// returnedLocked lets the next claim of the partition start, now that the stray task of c has returned.
func (p *pool) returnedLocked(c *claim) {
	if p.strays[c.key] == c {
		delete(p.strays, c.key)
	}
	if next := c.after; next != nil {
		next.before, c.after = nil, nil
		p.readyLocked(next, false)
	}
}
