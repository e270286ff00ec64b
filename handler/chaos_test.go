package handler_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/handler"
)

var (
	chaosRounds = flag.Int("chaos", 16, "rounds of TestChaos")
	chaosSeed   = flag.Uint64("chaos.seed", 0, "first seed of TestChaos; 0 takes a new one each time")
)

// TestChaos mixes all that a handler can do with all that a rebalance can do, and checks that order holds, that nothing of a partition
// overlaps, that commits leave no gap and that nothing is lost (G1, G2, G5, G6, G7). Every other round is in virtual time, where a
// claim that hangs is a deadlock that is reported.
func TestChaos(t *testing.T) {
	first := *chaosSeed
	if first == 0 {
		first = rand.Uint64()
	}
	for i := range *chaosRounds {
		seed := first + uint64(i)
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			if i%2 == 0 {
				synctest.Test(t, func(t *testing.T) {
					c := newChaos(t, seed)
					c.virtual = true
					c.run()
				})
			} else {
				newChaos(t, seed).run()
			}
		})
	}
}

// chaos is one round.
type chaos struct {
	t     *testing.T
	rnd   *rand.Rand
	seed  uint64
	audit *audit
	tries attempts
	brisk bool // no task sleeps, so that they come in bunches
	order handler.Order
	heard bool // assignments are heard, so that tasks go on from one session to the next
	group *group
	own   *ownCommits // nil over plain sessions

	virtual  bool // time is
	compacts bool // messages that nobody has started leave the log
	rigid    bool // claims cannot be paused
	patient  bool // this session lasts until all is committed
	retains  bool // retention takes what is at the front of the log
	misses   bool // generations are missed in the middle of a session, and the partition is sometimes somebody else's in them
	meta     int  // how long a commit's text may be
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), seed: seed, audit: newAudit(), tries: attempts{n: map[[2]int64]int{}}}
	in := config.Input{Expected: time.Millisecond, Grace: config.NoGrace, StopGrace: config.NoGrace}
	if c.rnd.IntN(3) == 0 {
		in.Expected = time.Minute // one message a slab, small backlog, prompt commits
	}
	if c.rnd.IntN(2) == 0 {
		in.Grace, in.StopGrace = 3*time.Millisecond, 2*time.Millisecond
	}
	c.brisk = c.rnd.IntN(2) == 0
	o := with(t, in)
	o.Slots = []int{0, 1, 2, 7, 100}[c.rnd.IntN(5)]
	o.Order = handler.Order(c.rnd.IntN(3))
	c.order = o.Order
	if o.Order != handler.ByPartition && c.rnd.IntN(2) == 0 {
		o.PartitionSlots = 1 + c.rnd.IntN(3)
	}
	if o.Order == handler.ByKey && c.rnd.IntN(3) == 0 {
		o.KeySlots = 2
		c.order = handler.None
	}
	c.rigid = c.rnd.IntN(6) == 0
	o.Retry.Initial, o.Retry.Max = time.Millisecond, 4*time.Millisecond
	switch c.rnd.IntN(4) {
	case 0:
		o.Plan.BacklogMessages = 1 + c.rnd.IntN(30)
	case 1:
		o.Plan.BacklogBytes = int64(8 + c.rnd.IntN(200))
	case 2:
		o.BacklogBytes = int64(500 + c.rnd.IntN(5000))
	}
	if c.rnd.IntN(2) == 0 {
		o.Hooks = []any{&taskEnds{}, badHook{}}
	}
	c.compacts = c.rnd.IntN(2) == 0
	c.retains, c.misses, c.meta = c.rnd.IntN(2) == 0, c.rnd.IntN(2) == 0, 45+c.rnd.IntN(60)
	c.heard = c.rnd.IntN(3) > 0
	if c.heard && c.rnd.IntN(2) == 0 {
		c.own = newOwnCommits(c)
	}
	c.group = newGroup(t, o, c.handle)
	for p := range int32(1 + c.rnd.IntN(6)) {
		c.audit.partitions[p] = newAudited(c.offsets(100), c.order, c.key)
	}
	return c
}

// offsets have holes, as a compacted topic has.
func (c *chaos) offsets(n int) (log []int64) {
	for o := int64(0); len(log) < n; o++ {
		if c.rnd.IntN(10) > 0 {
			log = append(log, o)
		}
	}
	return log
}

// key is that of seven keys, or none.
func (c *chaos) key(offset int64) []byte {
	if offset%11 == 0 {
		return nil
	}
	return strconv.AppendInt(nil, offset*offset%7, 10)
}

// handle does what the seed says for this message and attempt.
func (c *chaos) handle(ctx context.Context, m *handler.Task) (err error) {
	try := c.tries.next(m.ConsumerMessage)
	c.audit.started(m.ConsumerMessage)
	ok := false
	defer func() {
		c.audit.ended(m.ConsumerMessage, ok)
		if ok && c.own != nil {
			c.own.succeeded(m.ConsumerMessage)
		}
	}()
	if try > 3 {
		ok = true // enough: there is an end
		return nil
	}
	switch x := rand.New(rand.NewPCG(c.seed, uint64(m.Offset)<<8|uint64(m.Partition))).IntN(200); {
	case x == 0:
		panic("boom")
	case x == 1:
		runtime.Goexit()
	case x < 5:
		return errTask
	case c.brisk:
	case x < 15:
		time.Sleep(time.Duration(x) * 100 * time.Microsecond)
	case x == 15:
		time.Sleep(10 * time.Millisecond) // deaf, and longer than any grace
	case x < 20:
		err = obedient(5*time.Millisecond)(ctx, m)
	case x < 24:
		within, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		<-within.Done()
		err = ctx.Err()
	}
	ok = err == nil
	return err
}

// run takes all partitions through claims until everything is committed.
func (c *chaos) run() {
	for session := 0; c.unfinished() > 0; session++ {
		if session == 2000 {
			c.t.Errorf("no end in sight: order %v, heard %v, %+v", c.order, c.heard, c.group.Status())
			for p, x := range c.audit.partitions {
				c.t.Errorf("partition %d committed %d of %v, succeeded %v", p, x.committed, x.log, x.succeeded)
			}
			break
		}
		c.patient = c.virtual && c.rnd.IntN(6) == 0
		c.session(c.patient || c.rnd.IntN(4) > 0)
	}
	c.group.assign() // whatever goes on since the last session is given up
	if err := c.group.Wait(context.Background()); err != nil {
		c.t.Error(err)
	}
	c.audit.mu.Lock()
	defer c.audit.mu.Unlock()
	if c.own != nil {
		c.audit.faults = append(c.audit.faults, c.own.repeats()...)
	}
	if len(c.audit.faults) > 0 {
		c.t.Error(strings.Join(c.audit.faults, "\n"))
	}
	if st := c.group.Status(); st.Running != 0 || len(st.Claims) != 0 || st.Started != st.Succeeded+st.Failed+st.Cancelled+st.Strays {
		c.t.Errorf("at rest: %+v", st)
	}
	if c.virtual {
		synctest.Wait()
		held, stray, parting, running := c.group.Leftovers()
		if n := c.group.Entries(); held != 0 || stray != 0 || parting != 0 || running != 0 || n > 0 {
			c.t.Errorf("at rest: held %d, stray %d, parting %d, running %d, entries %d (heard %v, own %v)", held, stray, parting, running, n, c.heard, c.own != nil)
		}
	}
}

func (c *chaos) unfinished() (n int) {
	for p := range c.audit.partitions {
		if !c.audit.done(p) {
			n++
		}
	}
	return n
}

// session claims all partitions once. A calm one revokes each claim by itself, the other ends the session.
func (c *chaos) session(calm bool) {
	s, revoked := c.newSession(), make(chan struct{})
	if c.heard {
		c.assign()
	} else {
		c.group.s.next()
	}
	var wg sync.WaitGroup
	for p := range c.audit.partitions {
		after := time.Duration(c.rnd.IntN(8000)) * time.Microsecond
		if c.patient {
			after = time.Hour
		}
		buffer := []int{0, 1, 256}[c.rnd.IntN(3)]
		wg.Go(func() { c.claim(s, revoked, p, buffer, after, calm) })
	}
	c.missSome()
	if !calm {
		time.Sleep(time.Duration(c.rnd.IntN(6000)) * time.Microsecond)
		switch {
		case c.own != nil && !c.own.gentle && c.rnd.IntN(3) == 0:
			c.own.lose([]error{handler.ErrLost, handler.ErrDraining}[c.rnd.IntN(2)])
			c.group.s.cancel([]error{handler.ErrLost, sarama.ErrUnknownMemberId}[c.rnd.IntN(2)])
		case c.own != nil && c.own.gentle:
			c.group.s.cancel(sarama.ErrRebalanceInProgress)
		case c.rnd.IntN(2) == 0:
			c.group.assign()
			close(revoked)
		default:
			c.group.s.cancel([]error{sarama.ErrRebalanceInProgress, sarama.ErrUnknownMemberId, nil}[c.rnd.IntN(3)])
		}
	}
	wg.Wait()
	c.group.s.cancel(sarama.ErrRebalanceInProgress)
	_ = c.group.Cleanup(s)
}

func (c *chaos) newSession() sarama.ConsumerGroupSession {
	fresh := newSession()
	fresh.generation = c.group.s.GenerationID()
	if c.own != nil {
		return c.own.session(fresh)
	}
	c.group.s = fresh
	return &auditedSession{session: fresh, audit: c.audit}
}

// missSome lets generations go by in the middle of a session.
func (c *chaos) missSome() {
	if !c.misses || !c.heard || c.own == nil || c.own.gentle {
		return
	}
	for range c.rnd.IntN(4) {
		time.Sleep(time.Duration(c.rnd.IntN(2000)) * time.Microsecond)
		c.group.s.next()
		if !c.patient && c.rnd.IntN(3) == 0 {
			c.own.steal()
		}
		c.own.missed(c.group.s.GenerationID() + 1)
		c.group.assign(c.all()...)
	}
}

func (c *chaos) all() (partitions []int32) {
	for p := range c.audit.partitions {
		partitions = append(partitions, p)
	}
	return partitions
}

// assign tells the handler that it owns all partitions, and now and then that one has been somewhere else meanwhile.
func (c *chaos) assign() {
	all := c.all()
	if c.rnd.IntN(4) == 0 && (c.own == nil || !c.own.gentle) {
		c.group.assign(all[1:]...)
	}
	c.group.assign(all...)
}
