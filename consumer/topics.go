package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

// TopicError says that a topic cannot be consumed for now.
type TopicError struct {
	Topic string // its name, or Config.TopicPattern when nothing matches that
	err   error
}

// Error implements error.
func (e *TopicError) Error() string { return fmt.Sprintf("topic %s: %v", e.Topic, e.err) }

// Unwrap returns the reason, a sarama.KError as a rule.
func (e *TopicError) Unwrap() error { return e.err }

// topics returns the names to consume now, sorted: those of the configuration and those that the pattern matches.
func (m *membership) topics() ([]string, error) {
	names := slices.Clone(m.cfg.Topics)
	if m.cfg.TopicPattern != nil {
		all, err := m.allTopics()
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if m.matches(t) {
				names = append(names, t)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil, &TopicError{Topic: m.cfg.TopicPattern.String(), err: errNoMatch}
	}
	return names, nil
}

// matches says that a topic is one of Config.TopicPattern.
func (c *Consumer) matches(topic string) bool {
	return c.cfg.TopicPattern != nil && !strings.HasPrefix(topic, "__") && c.cfg.TopicPattern.MatchString(topic)
}

var errNoMatch = errors.New("no topic matches Config.TopicPattern yet")

// allTopics asks the cluster.
func (m *membership) allTopics() ([]string, error) {
	if err := m.link.RefreshMetadata(); err != nil {
		return nil, err
	}
	return m.link.Topics()
}

const (
	// A broker that has just started may not know all topics yet: others than before are believed when that many answers in a row agree,
	// lest partitions be given up for nothing.
	confirmations     = 3
	confirmationPause = time.Second
)

// sureTopics is [membership.topics], and once it has told topics it goes on with these until it is sure of others.
func (m *membership) sureTopics(ctx context.Context) ([]string, error) {
	names, err := m.topics()
	known := m.knownTopics()
	for range confirmations - 1 {
		if err != nil || known == nil || slices.Equal(names, known) {
			break
		}
		if _ = link.Sleep(ctx, confirmationPause); over(ctx) {
			return known, nil // nobody wants to know any more
		}
		var again []string
		if again, err = m.topics(); err == nil && !slices.Equal(again, names) {
			return known, nil
		}
	}
	if err == nil {
		m.setKnownTopics(names)
	}
	return names, err
}

func (m *membership) knownTopics() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known
}

func (m *membership) setKnownTopics(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = names
}

// topicMissing is told by the link when a topic that was asked for does not exist, and when it is back.
func (c *Consumer) topicMissing(topic string, missing bool) {
	if !missing {
		c.log.Info("topic exists now: its partitions are consumed after the next rebalance", slog.String("topic", topic))
		return
	}
	err := &TopicError{Topic: topic, err: sarama.ErrUnknownTopicOrPartition}
	c.log.Warn(c.onMissing(topic), slog.String("topic", topic))
	c.hooks.failed(err)
	c.watched.trouble(err)
}

// onMissing says what to do about a missing topic.
func (c *Consumer) onMissing(topic string) string {
	switch {
	case slices.Contains(c.cfg.Topics, topic):
		return "topic does not exist: create it, or remove it from Config.Topics; what there is of the others is consumed meanwhile"
	case c.matches(topic):
		return "topic that Config.TopicPattern matches does not exist any more: its partitions are given up, the others are consumed on"
	default:
		return "topic of another member does not exist: create it, or end that member's subscription; what there is of the others is consumed meanwhile"
	}
}

// errTopicReplaced ends a session that has claims of a topic that is another one by now. It is a rebalance to the tasks.
var errTopicReplaced = fmt.Errorf("the topic was deleted and created again: %w", handler.ErrRevoked)

// topicReplaced is told by the link when a topic is another one than before, under the same name. sarama would go on in it at the
// offset that it had reached in the old one, and a task of the old one would commit an offset that means nothing.
func (c *Consumer) topicReplaced(topic string) {
	_, m := c.watched.snapshot()
	if m == nil {
		return
	}
	m.tasks.TopicReplaced(topic) // first: each claim that comes after the commits of the start looks by itself
	if m.commits.Restart(topic) {
		m.restart(topic, m.currentRound())
	}
}

// restart ends a round whose claims have to begin at the start of a topic.
func (m *membership) restart(topic string, r *round) {
	err := &TopicError{Topic: topic, err: errTopicReplaced}
	m.log.Warn("topic was deleted and created again: it is consumed from its start", slog.String("topic", topic))
	m.hooks.failed(err)
	m.watched.trouble(err)
	if r != nil {
		r.end(errTopicReplaced)
	}
}
