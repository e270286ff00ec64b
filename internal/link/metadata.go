package link

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

const (
	// A broker that has just started may not know a topic yet. A topic that was there is missing only when several answers in a row
	// say so, lest its partitions be taken from everybody for nothing.
	confirmations     = 3
	confirmationPause = 250 * time.Millisecond
)

// refresh refreshes what sarama's own client knows about topics and leaves out those that are missing.
//
// sarama's client takes a missing topic for one that is about to appear and tries again, Metadata.Retry.Max times
// Metadata.Retry.Backoff (5 s with the settings of this library), before it fails the whole refresh; the join of a group's leader
// fails with it. So the cluster is asked first, and sarama's client refreshes only what is there.
func (l *Link) refresh(ctx context.Context, names []string) error {
	if len(names) == 0 || slices.Contains(names, "") { // all topics, or sarama's own answer to an empty name
		return l.until(ctx, func() error { return l.Client.RefreshMetadata(names...) })
	}
	present, err := l.sift(ctx, names)
	if err != nil || len(present) == 0 {
		return err
	}
	return l.until(ctx, func() error { return l.Client.RefreshMetadata(present...) })
}

// sift returns the names that are not missing and records which are.
func (l *Link) sift(ctx context.Context, names []string) ([]string, error) {
	missing, err := l.missing(ctx, names)
	if err != nil {
		return nil, err
	}
	var present []string
	for _, name := range names {
		gone := slices.Contains(missing, name)
		l.topics.note(name, gone)
		if !gone {
			present = append(present, name)
		}
	}
	l.topics.publish()
	return present, nil
}

// missing asks the cluster which of names it does not have, more than once for a topic that it had.
func (l *Link) missing(ctx context.Context, names []string) ([]string, error) {
	gone, err := l.askMissing(ctx, names)
	for range confirmations - 1 {
		if err != nil || !slices.ContainsFunc(gone, l.wasThere) {
			break
		}
		if err = sleep(ctx, confirmationPause); err == nil {
			gone, err = l.askMissing(ctx, gone)
		}
	}
	return gone, err
}

func (l *Link) wasThere(topic string) bool {
	known, missing := l.topics.known(topic)
	return known && !missing
}

func (l *Link) askMissing(ctx context.Context, names []string) (gone []string, err error) {
	var pace pace
	err = patiently(ctx, l.opt.Patience, func(within context.Context) error {
		if err := pace.wait(within); err != nil {
			return err
		}
		var err error
		gone, err = ask(within, l, func(b *sarama.Broker) ([]string, error) { return l.questionMissing(b, names) })
		pace.done(err)
		return err
	})
	return gone, err
}

func (l *Link) questionMissing(b *sarama.Broker, names []string) (gone []string, err error) {
	req := sarama.NewMetadataRequest(l.conf.Version, names)
	req.AllowAutoTopicCreation = l.conf.Metadata.AllowAutoTopicCreation
	resp, err := b.GetMetadata(req)
	if err != nil {
		return nil, err
	}
	if len(resp.Brokers) == 0 {
		return nil, errStarting
	}
	for _, topic := range resp.Topics {
		if topic.Err == sarama.ErrUnknownTopicOrPartition {
			gone = append(gone, topic.Name)
		}
	}
	return gone, nil
}

// errStarting is the answer of a broker that knows no cluster yet.
var errStarting = errors.New("broker is still starting")

// partitions returns what sarama's own client knows of a topic, nothing for one that is missing.
func (l *Link) partitions(ctx context.Context, topic string, of func(string) ([]int32, error)) ([]int32, error) {
	if known, missing := l.topics.known(topic); !known || missing {
		if err := l.refresh(ctx, []string{topic}); err != nil {
			return nil, err
		}
	}
	if _, missing := l.topics.known(topic); missing {
		return []int32{}, nil
	}
	return value(ctx, l, func() ([]int32, error) { return of(topic) })
}

// keepFresh refreshes metadata at the configured interval until the Link ends. sarama's own client would do it without leaving out
// what is missing: for a deleted topic it would ask 20 times at each tick, and a join would wait for that.
func (l *Link) keepFresh(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.freshen(l.life.ctx)
		case <-l.life.ctx.Done():
			return
		}
	}
}

func (l *Link) freshen(ctx context.Context) {
	if l.conf.Metadata.Full {
		l.logRefresh(l.refresh(ctx, nil))
	}
	if names := l.topics.names(); len(names) > 0 {
		l.logRefresh(l.refresh(ctx, names))
	}
}

func (l *Link) logRefresh(err error) {
	if err != nil && l.life.ctx.Err() == nil {
		l.opt.Logger.Debug("periodic metadata refresh failed, the next one follows", "group", l.id, "error", err)
	}
}
