package handler

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/member"
	"github.com/evenkeel-go/evenkeel/internal/offset"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// ownership is what this member knows of the partitions it owns. An assignment without a partition is the earliest sign that it is
// revoked: sarama tells the strategy before it closes the claim.
type ownership struct {
	mu         sync.Mutex
	latest     strategy.Assignment
	generation int32
	offered    string // name of the strategy that is offered
	mixed      bool   // more than one is, and another one than ours to hear may win a round
	chains     map[Claim]*chain
	replaced   map[string]replacement // by topic, for each name that was used again
	count      int64                  // the highest of our stamps
}

// chain is the ownership of a partition from one claim to the next, for as long as nobody else can have had it in between: the last
// assignment received that contained the partition was of one generation, and the next one received is of the same or of the next.
// Joins that were answered without an assignment do not count, and neither does what a session knows.
type chain struct {
	generation int32
	gap        bool  // a generation was missed
	claim      *loop // the claim that is held now, nil between two
	lingering  *loop // a claim before that has returned, and whose tasks go on
	title      title // of lingering
}

// title is what a claim that lingers has to show for its partition.
type title struct {
	memberID string
	stamp    offset.Stamp // in the commit
	plain    bool         // a session of sarama's alone: nobody can read a stamp there
	next     int64        // all below it had finished; over a plain session it has marked there
	work     context.Context
}

// offer hears which strategies are offered. Those of several calls may end up in one list; a second one of the same name is another try to
// make the group.
func (o *ownership) offer(s []sarama.BalanceStrategy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := s[0].Name()
	o.mixed = o.mixed || len(s) > 1 || o.offered != "" && o.offered != name
	o.offered = name
}

func (o *ownership) isMixed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mixed
}

func newOwnership() *ownership {
	return &ownership{chains: map[Claim]*chain{}, replaced: map[string]replacement{}}
}

// hear is the [strategy.Listener]. When it has returned, no runner begins with a task of a partition that the assignment does not contain,
// and what ran there beyond its claim is cancelled. A runner that has just looked at the intake may not have called the handler yet: its
// task counts as one that runs.
func (o *ownership) hear(latest strategy.Assignment, generation int32) {
	o.hearSaid(latest, strategy.Word{}, generation)
}

// hearSaid is hear with what the leader has said.
func (o *ownership) hearSaid(latest strategy.Assignment, w strategy.Word, generation int32) {
	ended, doubted := o.replace(latest, w, generation)
	for _, c := range ended {
		if c.claim != nil {
			c.claim.stop()
		}
		if c.lingering != nil {
			c.lingering.moved()
		}
	}
	for _, l := range doubted {
		l.askForProof(generation)
	}
}

// begin compares what was heard with the claims of a session that begins. A leader that is not ours may send zero bytes to a member that
// gets nothing, and of those sarama does not tell the strategy (consumer_group.go:505).
func (o *ownership) begin(claims strategy.Assignment, generation int32) (told bool) {
	o.mu.Lock()
	told = o.latest == nil || o.generation == generation // nil: the strategies are not ours, and never tell
	o.mu.Unlock()
	if !told {
		o.hear(claims, generation)
	}
	return told
}

// replace returns the chains that have ended, and the claims that go on although a generation was missed. Where each member of each of these
// generations stamps, the stamp in the commit tells all there is to tell: whoever has started anything meanwhile has left another one.
func (o *ownership) replace(latest strategy.Assignment, w strategy.Word, generation int32) (ended []chain, doubted []*loop) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.latest, o.generation = latest, generation
	for key, c := range o.chains {
		if !slices.Contains(latest[key.Topic], key.Partition) {
			ended = append(ended, *c)
			delete(o.chains, key)
			continue
		}
		missed := generation != c.generation && generation != c.generation+1
		if missed && c.claim != nil {
			doubted = append(doubted, c.claim)
		}
		c.gap, c.generation = c.gap || missed && !w.StampedFrom(c.generation+1), generation
	}
	return ended, doubted
}

// enter registers a claim, and returns the one before it whose tasks go on, nil for none.
func (o *ownership) enter(l *loop) (lingering *loop) {
	generation := l.group.GenerationID()
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.chains[l.key]
	if c == nil {
		c = &chain{generation: generation}
		o.chains[l.key] = c
	}
	c.claim = l
	return c.lingering
}

// forget takes a claim out whose tasks have ended, or are given up.
func (o *ownership) forget(l *loop) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.chains[l.key]
	if c == nil {
		return
	}
	if c.claim == l {
		c.claim = nil
	}
	if c.lingering == l {
		c.lingering = nil
	}
	if c.claim == nil && c.lingering == nil {
		delete(o.chains, l.key)
	}
}

// linger makes a claim that is held now one whose tasks go on after it. It returns false when the partition is no longer ours.
func (o *ownership) linger(l *loop, t title) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.chains[l.key]
	if c == nil || c.claim != l || c.lingering != nil {
		return false
	}
	c.claim, c.lingering, c.title, c.gap = nil, l, t, false
	return true
}

// Why the tasks of the claim before cannot be taken over. Each says that somebody else may have had the partition in between.
var (
	errNewMember  = errors.New("the broker has made a new member of this one")
	errGeneration = errors.New("a generation of the group was missed")
	errStamp      = errors.New("the partition's commit has another owner's stamp")
	errUnread     = errors.New("the partition's commit could not be read")
	errLog        = errors.New("the partition's log is another one than before")
	errOffset     = errors.New("the claim starts at another offset than was committed")
)

// stampOf is the stamp of the claim that lingers for a partition, zero where none does.
func (o *ownership) stampOf(key Claim) (s offset.Stamp) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.chains[key]; c != nil {
		s = c.title.stamp
	}
	return s
}

// doubt says why somebody else may have had the partition since the claim before the one of l, nil when nobody can. stored is the commit
// that was found, and err why it could not be read.
func (o *ownership) doubt(l *loop, stored member.Position, err error) error {
	t, ok := o.titleOf(l.key)
	start := l.source.InitialOffset()
	switch {
	case !ok:
		return errGeneration
	case t.memberID != l.group.MemberID(), t.work.Err() != nil:
		return errNewMember
	case t.plain && start != t.next:
		return errOffset // all that a plain sarama session tells
	case t.plain:
		return nil
	case start < 0 && l.logEnd < t.next:
		return errLog // sarama has found the commit beyond the end
	case err != nil:
		return errUnread
	case stampOf(stored) != t.stamp:
		return errStamp
	}
	return nil
}

// titleOf is the title of the claim that lingers for a partition. ok is false where a generation was missed.
func (o *ownership) titleOf(key Claim) (t title, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.chains[key]
	if c == nil || c.gap {
		return t, false
	}
	return c.title, true
}

// stampOf is the stamp of a commit, zero where there is none.
func stampOf(p member.Position) offset.Stamp {
	state, _ := offset.Decode(p.Metadata, p.Offset)
	return state.Stamp
}

// holds says that an assignment of this generation contains key, or a later one, of which sarama tells the session a moment after us. An
// older one proves nothing: a leader that is not ours may send an empty assignment, of which sarama tells nobody (consumer_group.go:505).
func (o *ownership) holds(key Claim, generation int32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.holdsLocked(key, generation)
}

func (o *ownership) holdsLocked(key Claim, generation int32) bool {
	return o.latest != nil && o.generation >= generation && slices.Contains(o.latest[key.Topic], key.Partition)
}

// mayLinger says that a claim that ends for this reason may linger: its session ends, the partition may come back to this member, and
// nobody may win a round meanwhile who knows nothing of us.
func (o *ownership) mayLinger(l *loop, r Reason) bool {
	if r == Lost || r == Stopping || r == Rebalance && l.session.Err() == nil {
		return false
	}
	generation := l.group.GenerationID()
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.mixed && o.holdsLocked(l.key, generation)
}
