package link

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/IBM/sarama"
)

// Options are the settings of a [Link]. Zero fields mean the default.
type Options struct {
	// Short is how long the answer to any request but a join or sync may take. Default 5 s.
	Short time.Duration
	// Long is how long the answer to a join or sync may take: the longest rebalance timeout in the group, and 5 s. Default:
	// Consumer.Group.Rebalance.Timeout and 5 s.
	Long time.Duration
	// Patience is how long one call looks for a coordinator that it can connect to. Default 10 s.
	Patience time.Duration
	// OnMissing is told, once each and in order, that a topic which was asked for does not exist, and that it exists (again). The
	// topics of other members are among them where this member leads the group. It is called from whichever goroutine found out and
	// should return soon. May be nil.
	OnMissing func(topic string, missing bool)
	// OnReplaced is told that a topic was deleted and created again, as far as the cluster gives topics an identity (2.8 and newer,
	// Version too): offsets of the old one mean nothing in the new one. It is called before sarama's client learns of it, in the
	// manner of OnMissing. May be nil.
	OnReplaced func(topic string)
	// Logger gets a line when a connection to the coordinator is lost and when it is back. It should name the group. Default
	// slog.Default().
	Logger *slog.Logger
}

func (o Options) withDefaults(conf *sarama.Config) Options {
	o.Short = cmp.Or(o.Short, 5*time.Second)
	o.Long = cmp.Or(o.Long, conf.Consumer.Group.Rebalance.Timeout+5*time.Second)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

// tell calls whoever is to hear of what happened to a topic.
func (o Options) tell(n news) {
	switch {
	case n.what == replaced && o.OnReplaced != nil:
		o.OnReplaced(n.topic)
	case n.what != replaced && o.OnMissing != nil:
		o.OnMissing(n.topic, n.what == gone)
	}
}
