package consumer

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
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
			if !strings.HasPrefix(t, "__") && m.cfg.TopicPattern.MatchString(t) {
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

var errNoMatch = errors.New("no topic matches Config.TopicPattern yet")

// allTopics asks the cluster.
func (m *membership) allTopics() ([]string, error) {
	if err := m.link.RefreshMetadata(); err != nil {
		return nil, err
	}
	return m.link.Topics()
}

// topicMissing is told by the link when a topic that was asked for does not exist, and when it is back.
func (c *Consumer) topicMissing(topic string, missing bool) {
	c.watched.topic(topic, missing)
	if !missing {
		c.log.Info("topic exists now: its partitions are consumed after the next rebalance", slog.String("topic", topic))
		return
	}
	err := &TopicError{Topic: topic, err: sarama.ErrUnknownTopicOrPartition}
	c.log.Warn("topic does not exist: create it, or remove it from Config.Topics; what there is of the others is consumed meanwhile", slog.String("topic", topic))
	c.hooks.failed(err)
	c.watched.trouble(err)
}

// errTopicReplaced ends a session that has claims of a topic that is another one by now. It is a rebalance to the tasks.
var errTopicReplaced = fmt.Errorf("the topic was deleted and created again: %w", handler.ErrRevoked)

// topicReplaced is told by the link when a topic is another one than before, under the same name. sarama would go on in it at the
// offset that it had reached in the old one, and a task of the old one would commit an offset that means nothing.
func (c *Consumer) topicReplaced(topic string) {
	_, m := c.watched.snapshot()
	if m == nil || !m.commits.Restart(topic) {
		return
	}
	err := &TopicError{Topic: topic, err: errTopicReplaced}
	c.log.Warn("topic was deleted and created again: it is consumed from its start", slog.String("topic", topic))
	c.hooks.failed(err)
	c.watched.trouble(err)
	if r := m.currentRound(); r != nil {
		r.end(errTopicReplaced)
	}
}
