package handler

import (
	"cmp"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
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
	limits  limits
	keys    keys
	procs   int // that may run goroutines at once
	hooks   *hooks
	logger  *slog.Logger
	base    time.Time
	owner   uint64 // random, see offset.Stamp

	mu        sync.Mutex
	running   int   // runners
	starting  int   // of them, those that have not taken their first run
	stray     int   // tasks that run for claims that are not held any more
	parting   int   // loops that have given kept tasks up and wait for their return
	held      int64 // bytes of all backlogs, see overhead
	roomAgain bool  // held has fallen to the limit, and nobody was told yet
	idle      chan struct{}
	ring      schedule.Ring[*claim]
	spare     []*runner
	claims    map[Claim]*claim // that are held now
	strays    map[Claim]*claim // that were given up with a task still running
	kept      map[Claim]*claim // that have returned, and whose tasks go on
	counts    Counts           // of tasks that are settled
	handOvers handOvers
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
		handler: h, limits: limitsOf(o), keys: newKeys(o), procs: runtime.GOMAXPROCS(0), hooks: sortHooks(o.Hooks, o.Logger), logger: o.Logger,
		base: time.Now(), owner: rand.Uint64(), //nolint:gosec // told apart, not secret
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
