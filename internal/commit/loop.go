package commit

import (
	"context"
	"sync"
	"time"

	"github.com/evenkeel-go/evenkeel/internal/member"
)

// Pauses between tries of a commit that was not settled.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Offset is one entry of a request.
type Offset struct {
	Topic     string
	Partition int32
	member.Position
}

// Request is a commit of one member in one generation.
type Request struct {
	MemberID   string
	Generation int32
	Offsets    []Offset
}

// Result is the answer to one offset, for whoever watches.
type Result struct {
	Offset
	MemberID string // in whose name it was sent, "" where it was not
	Err      error
	Verdict  Verdict
	Tries    int
	Elapsed  time.Duration // from the hand-over to this answer
	// Where the offset is not stored and not sent again:
	Finished bool // more has finished than is stored, and whoever reads the partition next runs it again
	Kept     bool // unless it is the claim of the partition that the member holds by now: that one goes on from here, or says why not
}

// Options are a [Loop]'s connections to the world.
type Options struct {
	// Send sends a request and returns one error an offset, nil for those that were stored; or one error for all.
	Send func(ctx context.Context, r Request) ([]error, error)
	// Moved is called when the coordinator is no longer the one that was asked.
	Moved func(ctx context.Context)
	// Notify hears each answer, on the loop's goroutine, and what is dropped, on that of [Claim.Release] too. It is called without any lock.
	Notify func(r Result)
	// LookUp reads what is committed for a partition, see [member.Committer].
	LookUp func(ctx context.Context, topic string, partition int32) (member.Position, error)
	// Spacing is the shortest time between two requests, for tasks so short that each end need not be stored at once. The last commit of
	// a claim, and one that somebody waits for, do not keep to it.
	Spacing time.Duration
	// MaxMetadata is how long the text of a commit may be.
	MaxMetadata int
}

type key struct {
	topic     string
	partition int32
}

// Loop sends the commits of all claims of a member. Safe for concurrent use.
type Loop struct {
	opts Options
	wake chan struct{} // 1: something is due. Lossy by design, the truth is under the lock

	mu     sync.Mutex
	due    []*Claim
	urgent bool      // what is due is sent whatever the spacing
	sent   time.Time // the last request
	stored map[key]confirmation
	ghosts map[key]identity
	held   map[*Claim]struct{}
	empty  chan struct{} // closed when no claim is held; nil as long as nobody asked

	trouble error    // of the latest request as a whole
	dropped []Result // to be told
}

// New makes a loop; nothing is sent before [Loop.Run].
func New(o Options) *Loop {
	return &Loop{opts: o, wake: make(chan struct{}, 1), stored: map[key]confirmation{}, ghosts: map[key]identity{}, held: map[*Claim]struct{}{}}
}

// Claim returns the committer of a partition that the member has just claimed.
func (l *Loop) Claim(o Owner, topic string, partition int32) *Claim {
	lookUp := func(ctx context.Context) (member.Position, error) { return l.opts.LookUp(ctx, topic, partition) }
	c := &Claim{Topic: topic, Partition: partition, loop: l, owner: o, lookUp: lookUp}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[c] = struct{}{}
	return c
}

// Unanswered is how many claims have handed an offset over of which nobody knows yet whether it is stored.
func (l *Loop) Unanswered() int { return l.UnansweredOf(func(Owner) bool { return true }) }

// UnansweredOf is Unanswered for claims whose owner matches.
func (l *Loop) UnansweredOf(match func(Owner) bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.held {
		if (c.due || c.sending) && !c.again && match(c.owner) {
			n++
		}
	}
	return n
}

// Awaits says that something of a partition waits for an answer, and for how long nothing of it has had one.
func (l *Loop) Awaits(topic string, partition int32) (d time.Duration, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.held {
		if c.Topic == topic && c.Partition == partition && (c.due || c.sending) && !c.again {
			d, waits = max(d, time.Since(c.awaited)), true
		}
	}
	return d, waits
}

// AwaitReleases waits until all claims have been released, at most until ctx ends.
func (l *Loop) AwaitReleases(ctx context.Context) {
	l.mu.Lock()
	if l.empty == nil {
		l.empty = make(chan struct{})
	}
	empty := l.empty
	l.emptyLocked()
	l.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}

func (l *Loop) emptyLocked() {
	if len(l.held) == 0 && l.empty != nil {
		close(l.empty)
		l.empty = nil
	}
}

// Restart commits the start of the claimed partitions of a topic, which has become another one under its old name, and nothing that is
// handed over later: those are offsets of the old one. It says whether there are any.
func (l *Loop) Restart(topic string) (found bool) {
	l.mu.Lock()
	for c := range l.held {
		if c.Topic == topic {
			found = true
			c.awaitLocked()
			c.restarted, c.pending, c.due, c.since, c.again = true, member.Position{}, true, time.Now(), false
			c.base = c.pending
			l.queueLocked(c)
		}
	}
	l.mu.Unlock()
	l.signal()
	return found
}

// Stored returns what the broker has confirmed for a partition that is claimed now, -1 as long as it has not.
func (l *Loop) Stored(topic string, partition int32) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.stored[key{topic, partition}]; ok {
		return s.offset
	}
	return -1
}

// confirmation is what the broker has stored for a claim.
type confirmation struct {
	offset int64
	claim  *Claim
}

// Run sends until ctx ends. It is called once.
func (l *Loop) Run(ctx context.Context) {
	again := time.NewTimer(time.Hour)
	again.Stop()
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-again.C:
		}
		if pause := l.sendDue(ctx); pause > 0 {
			again.Reset(pause)
		}
	}
}

func (l *Loop) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Loop) queueLocked(c *Claim) {
	if !c.queued && !c.sending {
		c.queued = true
		l.due = append(l.due, c)
	}
}
