// Package member is the seam between handler/ and consumer/: what a session can do beyond sarama's own.
//
// handler/ asks a session for these abilities by type assertion. A plain sarama session has none of them, and handler/ then
// marks offsets on it. consumer/ hands handler/ a session of its own that has them.
package member

import (
	"context"

	"github.com/IBM/sarama"
)

// Session is a session whose member watches its own lease and commits by itself.
type Session interface {
	sarama.ConsumerGroupSession

	// Work ends, with a cause, when the member has to stop every task at once: its lease ran out, it was fenced or removed.
	// It is the parent of all task contexts and outlives the session.
	Work() context.Context

	// Stopping says that the session's context has ended because the member was asked to stop. Its cause is the user's then, and may
	// be anything.
	Stopping() bool

	// Hurry returns a channel that is closed when the group rebalances while the member stops: others wait for what it still holds, and
	// sarama tells a session that has ended nothing of it.
	Hurry() <-chan struct{}

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

	// MaxMetadata is how long a position's text may be, in bytes.
	MaxMetadata() int

	// Release waits until what was handed over has been answered, at most until ctx ends, and gives the partition up: no request is
	// sent for it any more, not even a retry. One that is on its way when ctx ends may still reach the broker.
	Release(ctx context.Context)
}
