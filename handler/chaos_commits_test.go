package handler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// ownCommits is the part of a chaos in which a member commits by itself: to a broker that takes its time, and that does not always answer,
// nor store. A gentle one ends sessions in nothing but eager rebalances that leave the member all of its partitions.
type ownCommits struct {
	*chaos
	gentle bool

	mu       sync.Mutex
	dice     *rand.Rand
	work     context.Context // ends with the membership
	stopWork context.CancelCauseFunc
	id       int // of the member
	stored   map[int32]member.Position
	wins     map[int32]map[int64]int // successes of each message
	gap      int32                   // the latest generation that followed a missed one
}

func newOwnCommits(c *chaos) *ownCommits {
	return &ownCommits{chaos: c, gentle: c.rnd.IntN(2) == 0, dice: rand.New(rand.NewPCG(c.seed, 2)), stored: map[int32]member.Position{}, wins: map[int32]map[int64]int{}}
}

// session begins the next one. Commits of the one before are refused from now on.
func (o *ownCommits) session(s *session) sarama.ConsumerGroupSession {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := newMemberSession()
	if o.work == nil || o.work.Err() != nil {
		o.id++
		o.work, o.stopWork = context.WithCancelCause(context.Background())
	}
	m.work, m.stopWork = o.work, o.stopWork
	s.id = fmt.Sprintf("m-%d", o.id)
	m.session, o.group.s = s, s
	return &ownSession{m, o}
}

func (o *ownCommits) succeeded(m *sarama.ConsumerMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wins[m.Partition] == nil {
		o.wins[m.Partition] = map[int64]int{}
	}
	o.wins[m.Partition][m.Offset]++
}

// repeats are messages that succeeded more than once although the partition was never anybody else's.
func (o *ownCommits) repeats() (faults []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p, wins := range o.wins {
		for offset, n := range wins {
			if n > 1 && o.gentle {
				faults = append(faults, fmt.Sprintf("%d@%d succeeded %d times", p, offset, n))
			}
		}
	}
	return faults
}

type ownSession struct {
	*memberSession
	own *ownCommits
}

func (s *ownSession) Committer(_ string, partition int32) member.Committer {
	return &ownCommitter{own: s.own, session: s.session, partition: partition, trusted: s.GenerationID()}
}

// ownCommitter commits for a claim. It belongs to the claim's loop, and what asks for the loop.
type ownCommitter struct {
	own       *ownCommits
	session   *session
	partition int32
	pending   *member.Position
	trusted   int32 // up to that generation
}

var errSilent = errors.New("no answer")

func (o *ownCommits) roll(n int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dice.IntN(n)
}

// moment is a pause that real brokers make too.
func (o *ownCommits) moment() {
	d := time.Duration(o.roll(500)) * time.Microsecond
	if o.roll(4) == 0 {
		d *= 20
	}
	time.Sleep(d)
}

// send stores what is pending, unless the broker knows of a later session or the claim has missed a generation.
func (c *ownCommitter) send() {
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	if c.pending == nil || c.own.group.s != c.session || c.own.gap > c.trusted {
		return
	}
	c.own.audit.marked(c.partition, c.pending.Offset)
	c.own.stored[c.partition] = *c.pending
	c.pending = nil
}

func (c *ownCommitter) Committed(ctx context.Context) (member.Position, error) {
	c.own.moment()
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	if p, ok := c.own.stored[c.partition]; ok {
		return p, ctx.Err()
	}
	return member.Position{Offset: 0}, ctx.Err()
}

func (c *ownCommitter) Commit(p member.Position) {
	c.set(&p)
	if c.own.roll(3) > 0 {
		c.send()
	} else {
		time.AfterFunc(5*time.Millisecond, c.send) // as the commit loop does
	}
}

func (c *ownCommitter) set(p *member.Position) {
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	c.pending = p
}

func (c *ownCommitter) Store(ctx context.Context, p member.Position) error {
	c.own.moment()
	c.set(&p)
	c.send()
	return ctx.Err()
}

func (c *ownCommitter) Settled(context.Context) error {
	if c.own.roll(2) == 0 {
		c.send()
	}
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	if c.pending != nil {
		return errSilent
	}
	return nil
}

// missed says that the generation of the next assignment follows a missed one.
func (o *ownCommits) missed(generation int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gap = generation
}

// Trust lets a claim commit in the generation after a missed one, as the broker does where consumer/ sends it.
func (c *ownCommitter) Trust(generation int32) {
	c.own.mu.Lock()
	c.trusted = generation
	c.own.mu.Unlock()
	c.send()
}

func (c *ownCommitter) MaxMetadata() int { return c.own.meta }

// steal lets another one write its stamp into some commits.
func (o *ownCommits) steal() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p, at := range o.stored {
		if rand.IntN(2) == 0 {
			o.stored[p] = member.Position{Offset: at.Offset, Metadata: "another one's"}
		}
	}
}

func (c *ownCommitter) Release(context.Context) {
	_ = c.Settled(context.Background())
	c.set(nil)
}

// lose ends the membership.
func (o *ownCommits) lose(cause error) {
	o.mu.Lock()
	stop := o.stopWork
	o.mu.Unlock()
	stop(cause)
}
