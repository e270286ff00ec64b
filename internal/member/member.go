// Package member is the seam between handler/ and consumer/: what a session can do beyond sarama's own.
//
// handler/ asks a session for these abilities by type assertion. A plain sarama session has none of them, and handler/ then
// marks offsets on it. consumer/ hands handler/ a session of its own that has them.
package member

import (
	"context"
	"time"

	"github.com/IBM/sarama"
)

// Session is a session whose member watches its own lease and commits by itself.
type Session interface {
	sarama.ConsumerGroupSession

	// Work ends, with a cause, when the member has to stop every task at once: its lease ran out, it was fenced or removed.
	// It is the parent of all task contexts and outlives the session.
	Work() context.Context

	// Overdue says that by the clock the lease is over. Work ends a moment later, when its timer has come round: a process that was frozen
	// asks before it starts anything.
	Overdue() bool

	// Stopping says that the session's context has ended because the member was asked to stop. Its cause is the user's then, and may
	// be anything.
	Stopping() bool

	// Draining says that the member stops, and is a member for the tasks alone that still run: it starts nothing more.
	Draining() bool

	// StopGrace is how long running tasks may go on from now on where the session ends because of a stop.
	StopGrace() time.Duration

	// Hurry returns a channel that is closed when the group rebalances while the member stops: others wait for what it still holds, and
	// sarama tells a session that has ended nothing of it.
	Hurry() <-chan struct{}

	// Restart ends the session because a claim begins where an earlier topic of the name had its commit, which is mended by now. The next
	// session begins at the start. It does not block.
	Restart(topic string)

	// Yield says that the leader may have to hear of a partition: one that is to be handed over is idle, say. The member asks for another
	// round as soon as the commit is answered and the group has had a rest, if it is still so then. It does not block.
	Yield()

	// Rejoin ends the session, so that the member joins again and says what runs by then. It does not block.
	Rejoin(cause error)

	// Committer returns the committer of one claimed partition. It is called once a claim, from the claim's goroutine.
	Committer(topic string, partition int32) Committer
}

// Position is what a group commits for a partition: the next offset to read, with the text that goes with it.
type Position struct {
	Offset   int64
	Metadata string
}

// Committer commits the offsets of one claimed partition, with an answer.
type Committer interface {
	// Committed returns what the broker has stored, offset -1 for nothing. It asks the broker, again and again where it does not answer,
	// and returns the error of ctx when that ends first, or the broker's when it will not tell.
	Committed(ctx context.Context) (Position, error)

	// Commit hands a position over. The latest wins. It never blocks.
	Commit(p Position)

	// Store hands a position over and waits for the answer: nil when it is stored. It returns the error of ctx when that ends first, or
	// the broker's when it will not store it.
	Store(ctx context.Context, p Position) error

	// Settled waits until what was handed over has been answered, however, and returns the error of ctx when that ends first.
	Settled(ctx context.Context) error

	// Trust says that nobody else has had the partition up to this generation of the group. A commit never carries a later one that
	// follows a generation which this member has missed, as long as that is not trusted: the broker checks the generation, and not whose
	// the partition is.
	Trust(generation int32)

	// MaxMetadata is how long a position's text may be, in bytes.
	MaxMetadata() int

	// Release waits until what was handed over has been answered, at most until ctx ends, and gives the partition up: no request is
	// sent for it any more, not even a retry. One that is on its way when ctx ends may still reach the broker.
	Release(ctx context.Context)
}
