package link

import (
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// closeLimit bounds [Link.Close].
const closeLimit = 2 * time.Second

// Link is a sarama.Client for one group member. Its methods are safe for concurrent use. See the package documentation.
type Link struct {
	sarama.Client // sarama's own

	id    string // of the group
	seeds []string
	conf  *sarama.Config // what Config returns
	opt   Options
	life  *life
	net   *network
	owned bool // sarama's client is ours to close

	finder *finder
	topics *topics
	group  *seat // sarama's work for the group
	commit *seat // our own

	mu    sync.Mutex
	bound *binding

	closing sync.Once
	closed  error // set by closing
}

var _ sarama.Client = (*Link)(nil)

// Cut closes the connections of sarama's own client and lets no new one be made, so that what hangs in a fetch, a refresh or a
// lookup of sarama's returns. The connections to the coordinator stay: the member can still leave. There is no way back.
//
// A client that the user owns ([Over]) is left alone, and what hangs in it hangs for as long as its own timeouts say.
func (l *Link) Cut() { l.net.cut() }

// Close ends everything within 2 s, whatever the network does, and returns [ErrStillClosing] when something is left that ends later.
// Every call that is waiting returns. Close the ConsumerGroup first. A client that the user owns stays open. Later calls return what
// the first one did.
func (l *Link) Close() error {
	l.closing.Do(func() { l.closed = l.shut() })
	return l.closed
}

func (l *Link) shut() error {
	var err error
	// Ends when the Brokers have taken note of their closed sockets.
	l.life.end(func() { err = l.shutAll() })
	if late := l.life.wait(closeLimit); late != nil {
		return late
	}
	return err
}

func (l *Link) shutAll() error {
	l.net.cut()
	// Both sockets first: what follows waits for a request that asks the user's code for a token just now.
	l.group.drop()
	l.commit.drop()
	l.group.close()
	l.commit.close()
	if !l.owned {
		return nil
	}
	return l.Client.Close()
}
