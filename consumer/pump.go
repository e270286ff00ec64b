package consumer

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/commit"
)

// pump drains the group's errors to the log and to hooks: sarama drops errors that nobody receives.
func (m *membership) pump(ctx context.Context) {
	quiet := newThrottle(m.log)
	for {
		select {
		case err, ok := <-m.group.Errors():
			if !ok {
				return
			}
			m.groupError(quiet, err)
		case <-ctx.Done():
			return
		}
	}
}

func (m *membership) groupError(quiet *throttle, err error) {
	if m.watched.is(StateStopping) && errors.Is(err, net.ErrClosed) {
		return // our own doing
	}
	if m.knownMissing(err) {
		return // told already
	}
	m.hooks.failed(err)
	m.watched.trouble(err)
	attrs := []slog.Attr{slog.Any("error", err)}
	source, failure := "group", err
	var ce *sarama.ConsumerError
	if errors.As(err, &ce) && ce.Partition >= 0 {
		source, failure = "topic "+ce.Topic, ce.Err
		attrs = []slog.Attr{slog.Any("error", ce.Err), slog.String("topic", ce.Topic), slog.Int("partition", int(ce.Partition))}
	}
	quiet.warn(source+" "+class(failure), "the group reports an error", attrs...)
}

// knownMissing finds what sarama repeats every 2 s for each claim of a topic that is gone.
func (m *membership) knownMissing(err error) bool {
	var ce *sarama.ConsumerError
	return errors.As(err, &ce) && errors.Is(ce.Err, sarama.ErrUnknownTopicOrPartition) && m.link != nil && m.link.IsMissing(ce.Topic)
}

// commitAnswered hears each answer to a commit, and of each that is dropped.
func (m *membership) commitAnswered(r commit.Result) {
	m.hooks.committed(Commit{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset.Offset, Err: r.Err, Retrying: r.Verdict == commit.Again,
		Dropped: r.Verdict == commit.Dropped, Elapsed: r.Elapsed,
	})
	if r.Verdict == commit.Done {
		m.unstored.done(r)
		return
	}
	m.watched.trouble(r.Err)
	m.noteUnstored(r)
	attrs := []slog.Attr{
		slog.String("topic", r.Topic), slog.Int("partition", int(r.Partition)), slog.Int64("offset", r.Offset.Offset),
		slog.Int("try", r.Tries), slog.Any("error", r.Err),
	}
	switch r.Verdict {
	case commit.Again: // a rebalance or a move of the coordinator as a rule
		if r.Elapsed > noticeable {
			m.lateCommits.warn(r.Topic, "commit not stored yet: trying again", attrs...)
		}
	case commit.Refused:
		m.refused(r.Err, attrs)
	case commit.Done, commit.Dropped:
	case commit.Lost:
		// A late answer may be about the member that this one was before: it was removed, and has joined again since.
		if t := m.currentTenure(); t != nil && t.memberID == r.MemberID {
			t.lose(t.lease.lost(r.Err))
		}
	}
}

// refused tells of a commit that the broker will not store. One of a text that is too long is stored without it.
func (m *membership) refused(err error, attrs []slog.Attr) {
	if !errors.Is(err, sarama.ErrOffsetMetadataTooLarge) {
		m.log.LogAttrs(context.Background(), slog.LevelError, "commit refused: the message may be handled again after a restart", attrs...)
		return
	}
	if !m.toldLimit {
		m.toldLimit = true
		m.log.LogAttrs(context.Background(), slog.LevelWarn, "the broker takes less metadata with a commit than it was believed to: offsets are "+
			"committed without, and what has finished beyond them is handled again after a restart; set config.Input.Broker.MaxMetadataBytes to "+
			"its offset.metadata.max.bytes", attrs...)
	}
}

// noticeable is how long a commit may take without a word: longer than a round of a rebalance or a move of the coordinator does.
const noticeable = 5 * time.Second
