package link

import (
	"context"
	"errors"

	"github.com/IBM/sarama"
)

// New connects to the cluster and returns the Link of one member of group. conf is not changed; its security settings, dialer,
// client ID and version hold for every connection.
//
// It returns when a broker has answered, and with an error when none did or ctx ended, after one round over addrs: the time of a
// dial and an answer at most. errors.Is finds the sarama.KError of a refusal, and sarama.ErrOutOfBrokers when no broker could be
// reached. A group whose coordinator is not available yet is no error. ctx is for New alone.
func New(ctx context.Context, addrs []string, group string, conf *sarama.Config, opt Options) (*Link, error) {
	addrs, err := canonical(ctx, addrs, conf)
	if err != nil {
		return nil, err
	}
	l, err := own(addrs, group, conf, opt)
	if err != nil {
		return nil, err
	}
	if err := l.greet(ctx); err != nil {
		_ = l.Close()
		return nil, err
	}
	if every := conf.Metadata.RefreshFrequency; every > 0 {
		// Ends with the Link.
		l.life.run(func() { l.keepFresh(every) })
	}
	return l, nil
}

// Over returns the Link of one member of group over a client that the user owns, with the client's configuration and addresses. It
// does not wait for a connection.
//
// Close and Cut leave the client alone, so three things are weaker than with [New]: a stop waits for the client's own timeouts where
// its fetches hang, and the client's own periodic refresh asks for a deleted topic Metadata.Retry.Max times, which holds up a
// refresh that comes in that time. And there is no periodic refresh of the Link's own: that a topic is missing or back is noticed
// when somebody asks for it, which the leader of a group does at each join and at each Metadata.RefreshFrequency.
func Over(client sarama.Client, group string, opt Options) (*Link, error) {
	if client.Closed() {
		return nil, sarama.ErrClosedClient
	}
	conf := client.Config()
	l := newLink(group, conf, opt)
	l.Client = client
	l.net.conf = lineConfig(conf, l.opt.Short)
	if len(client.Brokers()) == 0 { // it has not asked for metadata yet
		if seed := client.LeastLoadedBroker(); seed != nil {
			l.seeds = []string{seed.Addr()}
		}
	}
	return l, nil
}

// remembered is for how many periodic refreshes a topic is looked at that nobody subscribes to, after somebody has asked for it.
const remembered = 3

func newLink(group string, conf *sarama.Config, opt Options) *Link {
	l := &Link{id: group, conf: conf, opt: opt.withDefaults(conf), life: newLife()}
	l.bound = &binding{l.life.ctx}
	l.net = newNetwork(conf, l.life)
	l.finder = &finder{link: l}
	l.topics = newTopics(remembered*conf.Metadata.RefreshFrequency, l.opt.tell)
	l.group = newSeat("group", l, l.opt.Long)
	l.commit = newSeat("commit", l, l.opt.Short)
	return l
}

// own makes a Link with a client of its own. Nothing is dialled yet.
func own(addrs []string, group string, conf *sarama.Config, opt Options) (*Link, error) {
	l := newLink(group, conf, opt)
	base := *conf
	base.Net.Proxy.Enable, base.Net.Proxy.Dialer = true, l.net
	base.Metadata.Retry.BackoffFunc = l.net.backoff(conf)
	base.Net.ResolveCanonicalBootstrapServers = false // done
	base.Metadata.Full = false                        // greet does it, and gives up with its context
	base.Metadata.RefreshFrequency = 0                // keepFresh does it
	client, err := sarama.NewClient(addrs, &base)
	if err != nil {
		return nil, err
	}
	// sarama fills in and corrects its configuration: what it made of it holds for all connections.
	public := base
	public.Net.Proxy, public.Metadata = conf.Net.Proxy, conf.Metadata
	l.Client, l.seeds, l.owned, l.conf = client, addrs, true, &public
	l.net.conf = lineConfig(&public, l.opt.Short)
	return l, nil
}

// greet finds out whether a broker answers, and looks at all topics where the configuration asks for that.
func (l *Link) greet(ctx context.Context) error {
	if _, err := l.finder.locate(ctx, true); err != nil && !notYet(err) {
		return err
	}
	if !l.conf.Metadata.Full {
		return nil
	}
	if err := l.refresh(ctx, nil, true); err != nil && !partly(err) {
		return err
	}
	return nil
}

// notYet reports the answer of a cluster that has no coordinator for the group at the moment.
func notYet(err error) bool {
	return errors.Is(err, sarama.ErrConsumerCoordinatorNotAvailable) ||
		errors.Is(err, sarama.ErrOffsetsLoadInProgress) ||
		errors.Is(err, sarama.ErrNotCoordinatorForConsumer)
}

// partly reports what sarama's NewClient takes for a cluster of which a part is down or out of bounds.
func partly(err error) bool {
	return errors.Is(err, sarama.ErrLeaderNotAvailable) ||
		errors.Is(err, sarama.ErrReplicaNotAvailable) ||
		errors.Is(err, sarama.ErrTopicAuthorizationFailed) ||
		errors.Is(err, sarama.ErrClusterAuthorizationFailed)
}
