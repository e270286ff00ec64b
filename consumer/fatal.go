package consumer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/link"
	"github.com/evenkeel-go/evenkeel/internal/span"
)

// refusedLimit is how many refusals (of the credentials, the certificate, the rights) a member that was never part of the group takes
// before Run returns. One may be a broker that has not loaded a new user yet.
const refusedLimit = 3

// FatalError is an error that waiting does not mend. Run returns it.
type FatalError struct {
	// Remedy says what to change.
	Remedy string
	err    error
}

// Error implements error.
func (f *FatalError) Error() string { return f.err.Error() + ": " + f.Remedy }

// Unwrap returns what the broker or sarama said, a sarama.KError mostly.
func (f *FatalError) Unwrap() error { return f.err }

// judge returns the error that ends Run, nil when trying again may help.
func (c *Consumer) judge(err error, tries *backoff) error {
	if link.Refused(err) {
		tries.refusals++
		if c.watched.everJoined() || tries.refusals < refusedLimit {
			return nil
		}
	}
	return c.explain(err)
}

// explain returns a *FatalError, or nil for an error that is not.
func (c *Consumer) explain(err error) error {
	remedy := c.remedy(err)
	if remedy == "" {
		return nil
	}
	return c.fatal(remedy, err)
}

func (c *Consumer) fatal(remedy string, err error) *FatalError {
	return &FatalError{Remedy: remedy, err: fmt.Errorf("consumer group %s: %w", c.cfg.Group, err)}
}

func (c *Consumer) remedy(err error) string {
	p := c.plan()
	var bad sarama.ConfigurationError
	switch {
	case errors.Is(err, sarama.ErrSASLAuthenticationFailed), errors.Is(err, sarama.ErrUnsupportedSASLMechanism):
		return "check user, password and mechanism in Net.SASL"
	case errors.Is(err, sarama.ErrInvalidSessionTimeout):
		return fmt.Sprintf("the session timeout is %v (Consumer.Group.Session.Timeout): set config.Input.Broker to the broker's "+
			"group.min.session.timeout.ms and group.max.session.timeout.ms, or CrashDetection to a value between them", span.Text(p.SessionTimeout))
	case errors.Is(err, sarama.ErrInconsistentGroupProtocol):
		first := "with the old strategy in Config.OfferAlso"
		if config.Chosen(c.cfg.base()) != nil {
			first = "with both strategies listed in Sarama.Consumer.Group.Rebalance.GroupStrategies"
		}
		return fmt.Sprintf("the members that are there offer other balance strategies than this one (%s): move the group in two rolling "+
			"deployments, first %s (and Input.Eager set where the old one is range, roundrobin or sticky), then with the new one alone", c.strategies(), first)
	case errors.Is(err, sarama.ErrFencedInstancedId):
		return "another process runs with the same group instance id: give each process its own"
	case errors.Is(err, sarama.ErrGroupAuthorizationFailed):
		return "let this user read the group (ACL READ on group)"
	case errors.Is(err, sarama.ErrTopicAuthorizationFailed):
		return "let this user read the topics (ACL READ on topic)"
	case errors.Is(err, sarama.ErrInvalidGroupId):
		return "set another Config.Group"
	case errors.Is(err, sarama.ErrInvalidTopic):
		return "correct the name in Config.Topics"
	case errors.Is(err, sarama.ErrUnsupportedVersion):
		return "set Sarama.Version to what the brokers support"
	case errors.Is(err, sarama.ErrClosedConsumerGroup):
		return "the group was closed under Run: end Run by its context instead"
	case errors.Is(err, sarama.ErrClosedClient):
		return "the client was closed under Run: end Run by its context first"
	case errors.As(err, &bad):
		return "correct Config.Sarama"
	case link.Refused(err):
		return "check Net.TLS and Net.SASL in Config.Sarama against the brokers' listener, and the rights of this user"
	}
	return ""
}

// plan is the one in force: the configured one, with the brokers' limits once they are known.
func (c *Consumer) plan() *config.Plan {
	if _, m := c.watched.snapshot(); m != nil {
		return m.plan
	}
	return c.cfg.Plan
}

// strategies names what this member offers.
func (c *Consumer) strategies() string {
	conf, err := c.cfg.settings(c.cfg.Plan)
	if err != nil {
		return "unknown"
	}
	var names []string
	for _, s := range c.offers(c.tasks.Load(), conf) {
		names = append(names, s.Name())
	}
	return strings.Join(names, ", ")
}
