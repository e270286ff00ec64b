package link

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

const (
	// A broker that has just started may not know a topic yet: one that was there is missing only when several answers in a row say
	// so, lest its partitions be taken from everybody for nothing. And the first question may be what creates a topic.
	confirmations     = 3
	confirmationPause = 250 * time.Millisecond
)

// refresh refreshes what sarama's own client knows about topics and leaves out those that are missing, and unless force is set those
// of which it knows all already.
//
// sarama's client takes a missing topic for one that is about to appear and tries again, Metadata.Retry.Max times
// Metadata.Retry.Backoff (5 s with the settings of this library), before it fails the whole refresh; the join of a group's leader
// fails with it. And it first waits for the long poll of every leader, a quarter of a second for each broker. So the cluster is asked
// first, in milliseconds, and sarama's client refreshes only what is there and has changed.
func (l *Link) refresh(ctx context.Context, names []string, force bool) error {
	if len(names) == 0 || slices.Contains(names, "") { // all topics, or sarama's own answer to an empty name
		return l.until(ctx, func() error { return l.Client.RefreshMetadata(names...) })
	}
	seen, err := l.look(ctx, names)
	if err != nil {
		return err
	}
	return l.until(ctx, func() error { return l.adopt(names, seen, force) })
}

// adopt makes sarama's client know what was seen, in one refresh.
func (l *Link) adopt(names []string, seen *view, force bool) error {
	stale := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return seen.missing(name) || !force && l.knows(seen, name)
	})
	if len(stale) == 0 {
		return nil
	}
	if err := l.Client.RefreshMetadata(stale...); err != nil {
		return err
	}
	l.topics.fetch(stale)
	return nil
}

// knows reports whether sarama's client knows all of a topic as it was seen.
func (l *Link) knows(seen *view, name string) bool {
	return l.topics.state(name) == fetched && seen.knownTo(l.Client, name)
}

// look asks the cluster for topics and records which are missing, once that is sure.
func (l *Link) look(ctx context.Context, names []string) (*view, error) {
	seen, err := l.askView(ctx, names)
	for range confirmations - 1 {
		if err != nil || !slices.ContainsFunc(names, func(name string) bool { return seen.missing(name) && l.doubts(name) }) {
			break
		}
		if err = Sleep(ctx, confirmationPause); err == nil {
			seen, err = l.askView(ctx, names)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		l.topics.note(name, seen)
	}
	l.topics.publish()
	return seen, nil
}

// doubts reports whether one answer is not enough to call a topic missing.
func (l *Link) doubts(topic string) bool {
	was := l.topics.state(topic)
	return was >= there || was == never && l.conf.Metadata.AllowAutoTopicCreation
}

func (l *Link) askView(ctx context.Context, names []string) (seen *view, err error) {
	var pace pace
	err = patiently(ctx, l.opt.Patience, func(within context.Context) error {
		if err := pace.wait(within); err != nil {
			return err
		}
		var err error
		seen, err = ask(within, l, func(b *sarama.Broker) (*view, error) { return l.questionView(b, names) })
		pace.done(err)
		return err
	})
	return seen, err
}

func (l *Link) questionView(b *sarama.Broker, names []string) (*view, error) {
	req := sarama.NewMetadataRequest(l.conf.Version, names)
	req.AllowAutoTopicCreation = l.conf.Metadata.AllowAutoTopicCreation
	resp, err := b.GetMetadata(req)
	if err != nil {
		return nil, err
	}
	if len(resp.Brokers) == 0 {
		return nil, errStarting
	}
	return newView(resp), nil
}

// errStarting is the answer of a broker that knows no cluster yet.
var errStarting = errors.New("broker is still starting")

// partitions returns what sarama's own client knows of a topic, nothing for one that is missing.
func (l *Link) partitions(ctx context.Context, topic string, of func(string) ([]int32, error)) ([]int32, error) {
	l.topics.ask(topic)
	if !l.topics.takeFresh(topic) {
		if err := l.lookAgain(ctx, topic); err != nil && !l.topics.present(topic) {
			return nil, err
		}
	}
	if !l.topics.present(topic) {
		return []int32{}, nil
	}
	return value(ctx, l, func() ([]int32, error) { return of(topic) })
}

// lookAgain asks the cluster for topic, and for all others in the same question: sarama asks for the partitions of one topic after
// the other.
//
// When it plans it has refreshed them just before. When it looks for added partitions, at each Metadata.RefreshFrequency, it has not,
// and what the client knows may be as old as that by itself: partitions would be noticed after twice the time.
func (l *Link) lookAgain(ctx context.Context, topic string) error {
	names := l.topics.names()
	if !slices.Contains(names, topic) {
		names = append(names, topic)
	}
	if err := l.refresh(ctx, names, false); err != nil {
		return err
	}
	l.topics.freshen(slices.DeleteFunc(names, func(name string) bool { return name == topic }))
	return nil
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
		l.logRefresh(l.refresh(ctx, nil, true))
	}
	if names := l.topics.names(); len(names) > 0 {
		l.logRefresh(l.refresh(ctx, names, true))
	}
}

func (l *Link) logRefresh(err error) {
	if err != nil && l.life.ctx.Err() == nil {
		l.opt.Logger.Debug("periodic metadata refresh failed, the next one follows", slog.Any("error", err))
	}
}
