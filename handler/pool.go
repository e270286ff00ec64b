package handler

import (
	"cmp"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// spareRunners is how many idle runners are kept for the next burst.
const spareRunners = 16

// pool runs the tasks of all claims of a member. Runners pull runs of ready messages under its one short lock; claim loops put
// messages in and take results out under the same lock. Nothing is called and no channel is used while it is held.
type pool struct {
	handler Handler
	limits  limits
	keys    keys
	procs   int // that may run goroutines at once
	hooks   *hooks
	logger  *slog.Logger
	base    time.Time
	owner   uint64 // random, see offset.Stamp

	mu       sync.Mutex
	running  int   // runners
	starting int   // of them, those that have not taken their first run
	stray    int   // tasks that run for claims that are not held any more
	parting  int   // loops that have given kept tasks up and wait for their return
	held     int64 // bytes of all backlogs, see overhead
	idle     chan struct{}
	ring     schedule.Ring[*claim]
	spare    []*runner
	claims   map[Claim]*claim // that are held now
	strays   map[Claim]*claim // that were given up with a task still running
	kept     map[Claim]*claim // that have returned, and whose tasks go on
	counts   Counts           // of tasks that are settled
}

// limits are what the options bound.
type limits struct {
	slots     int // tasks of the member; 0: as many as claims
	partition int // of one claim
	key       int // of one key
	memory    int64
}

func limitsOf(o Options) limits {
	return limits{
		slots: o.Slots, partition: cmp.Or(o.PartitionSlots, math.MaxInt), key: cmp.Or(o.KeySlots, 1),
		memory: cmp.Or(o.BacklogBytes, defaultMemory),
	}
}

func newPool(h Handler, o Options) *pool {
	return &pool{
		handler: h, limits: limitsOf(o), keys: newKeys(o), procs: runtime.GOMAXPROCS(0), hooks: sortHooks(o.Hooks, o.Logger), logger: o.Logger, base: time.Now(), owner: rand.Uint64(), //nolint:gosec // told apart, not secret
		claims: map[Claim]*claim{}, strays: map[Claim]*claim{}, kept: map[Claim]*claim{},
	}
}

// now is the time since the pool began: half the price of time.Now.
func (p *pool) now() time.Duration { return time.Since(p.base) }

// readyLocked puts c into the ring if it has work that may start, and sees to it that somebody comes for it.
func (p *pool) readyLocked(c *claim) {
	if c.mayStartLocked() {
		p.queueLocked(c)
	}
	p.startLocked()
}

func (p *pool) queueLocked(c *claim) {
	if !c.queued {
		c.queued = true
		p.ring.Push(c)
	}
}

// startLocked starts a runner if a claim waits that nobody is on the way to, and a slot is free. A runner that takes a run and leaves
// work starts the next one in the same way.
func (p *pool) startLocked() {
	if p.ring.Len() <= p.starting || p.freeLocked() < 1 {
		return
	}
	p.running++
	p.starting++
	r := p.runnerLocked()
	go r.loop() // ends when nothing is ready; GroupHandler.Wait waits for it
}

// freeLocked is how many slots are free. Without a number there is one a claim; by partition no claim can use more.
func (p *pool) freeLocked() int {
	switch {
	case p.limits.slots > 0:
		return p.limits.slots - p.running
	case p.keys.order == ByPartition:
		return 1
	default:
		return len(p.claims) + p.stray - p.running
	}
}

// shareLocked is how many runners may come for what is ready: those of the idle slots that find a processor.
func (p *pool) shareLocked() int { return max(min(p.freeLocked(), p.procs-1), 0) + 1 }

// nextLocked is the claim to serve next, nil when none has anything ready: the one served before until its turn is over.
func (p *pool) nextLocked(before *claim, served time.Duration) *claim {
	if before != nil && before.mayStartLocked() {
		if served < schedule.Turn {
			return before
		}
		p.queueLocked(before)
	}
	for {
		c, ok := p.ring.Pop()
		if !ok {
			return nil
		}
		c.queued = false
		if c.mayStartLocked() { // another runner may have taken the rest
			return c
		}
	}
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
	p.blockLocked(c)
}

func (p *pool) blockLocked(c *claim) {
	if s := p.strays[c.key]; s != nil {
		c.before, s.after = s, c
	}
}

// closeLocked takes c out of service: what has not started is dropped, what has ended is settled, and what runs goes on. A runner
// that finds the end of the intake does it as well as the claim's loop.
func (p *pool) closeLocked(c *claim) {
	c.closed = true
	c.lineup.clear()
	for r := c.active; r != nil; r = r.after {
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
	if c.kept {
		c.kept = false
		delete(p.kept, c.key)
		p.stray -= c.flight
	}
	p.held -= c.view.bytes + int64(c.view.backlog)*overhead
	if p.claims[c.key] == c {
		delete(p.claims, c.key)
	}
	if c.flight > 0 {
		p.strays[c.key] = c
	}
	p.stray += c.flight
	p.counts.Abandoned += int64(c.flight)
	return c.flight
}

// returnedLocked takes note that a stray task of c has returned. The last one lets the next claim of the partition start.
func (p *pool) returnedLocked(c *claim) {
	if c.flight > 0 {
		return
	}
	if p.strays[c.key] == c {
		delete(p.strays, c.key)
	}
	if next := c.after; next != nil {
		next.before, c.after = nil, nil
		p.readyLocked(next)
	}
}

// keepLocked lets the tasks of c go on without a claim.
func (p *pool) keepLocked(c *claim) {
	c.kept = true
	if p.claims[c.key] == c {
		delete(p.claims, c.key)
	}
	p.kept[c.key] = c
	p.stray += c.flight
}

// unkeepLocked takes back what keepLocked did.
func (p *pool) unkeepLocked(c *claim) {
	c.kept = false
	delete(p.kept, c.key)
	p.claims[c.key] = c
	p.stray -= c.flight
}

// adoptLocked gives the tasks of a kept claim to the next one of the partition, with what has ended of them already, and returns their
// messages.
func (p *pool) adoptLocked(c, old *claim) map[int64]*sarama.ConsumerMessage {
	delete(p.kept, old.key)
	p.stray -= old.flight
	p.held -= old.view.bytes + int64(old.view.backlog)*overhead
	inHand := map[int64]*sarama.ConsumerMessage{}
	c.ended, c.failed = old.ended, old.failed
	for _, f := range old.failed {
		c.adoptScope(f.task)
		inHand[f.task.Offset] = f.task.ConsumerMessage
		c.lineup.holdFailed(f)
	}
	for r := old.active; r != nil; {
		next := r.after
		old.dischargeLocked(r)
		r.claim = c
		c.enlistLocked(r)
		for i := r.done; i < r.n; i++ {
			c.adoptScope(r.task(i))
			inHand[r.task(i).Offset] = r.task(i).ConsumerMessage
			c.lineup.hold(r, i)
		}
		r = next
	}
	old.flight, old.kept = 0, false
	return inHand
}
