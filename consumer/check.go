package consumer

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/hook"
)

// fault is a field that cannot stay as it is.
func fault(field string, value any, remedy string) error {
	return fmt.Errorf("%w: Config.%s is %v: %s", ErrConfig, field, value, remedy)
}

// check finds all faults, before anything is opened.
func (c Config) check() error {
	faults := []error{c.checkPlan(), c.checkSource(), c.checkGroup(), c.checkTopics(), c.checkHooks(), c.checkBase(), c.checkOffers()}
	return errors.Join(faults...)
}

func (c Config) planned() bool { return c.Plan != nil && c.Plan.Input.Expected != 0 }

func (c Config) checkPlan() error {
	if !c.planned() {
		return fault("Plan", "empty", "derive one with config.For(how long a task usually takes)")
	}
	return nil
}

// checkSource wants exactly one way to the cluster.
func (c Config) checkSource() error {
	switch {
	case c.ConsumerGroup != nil && (c.Client != nil || len(c.Brokers) > 0 || c.Sarama != nil):
		return fault("ConsumerGroup", "set", "leave Client, Brokers and Sarama empty, the group has its own")
	case c.ConsumerGroup != nil:
		return nil
	case c.Client != nil && (len(c.Brokers) > 0 || c.Sarama != nil):
		return fault("Client", "set", "leave Brokers and Sarama empty, the client has its own")
	case c.Client != nil && c.Client.Closed():
		return fault("Client", "closed", "pass an open client")
	case c.Client != nil:
		return nil
	case len(c.Brokers) == 0:
		return fault("Brokers", "empty", "set the address of at least one broker, host:port")
	}
	return c.checkBrokers()
}

// checkBrokers wants host:port. Any other address would be tried for ever.
func (c Config) checkBrokers() error {
	var faults []error
	for i, b := range c.Brokers {
		if remedy := checkAddress(b); remedy != "" {
			faults = append(faults, fault(fmt.Sprintf("Brokers[%d]", i), strconv.Quote(b), remedy))
		}
	}
	return errors.Join(faults...)
}

func checkAddress(b string) (remedy string) {
	if strings.Trim(b, " \t\r\n") != b && strings.TrimSpace(b) != "" {
		return "remove the blanks around it"
	}
	if strings.Contains(b, ",") {
		return "make an entry of each address"
	}
	host, port, err := net.SplitHostPort(b)
	if err != nil || host == "" || port == "" || strings.ContainsFunc(host, unicode.IsSpace) || strings.Contains(host, "/") {
		return "set host:port, localhost:9092 for example"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "set a port from 1 to 65535"
	}
	return ""
}

func (c Config) checkGroup() error {
	if c.Group == "" {
		return fault("Group", "empty", "set the name of the consumer group")
	}
	return nil
}

// legalTopic is the brokers' rule, beside that neither "." nor ".." is a name.
var legalTopic = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

func (c Config) checkTopics() error {
	if len(c.Topics) == 0 && c.TopicPattern == nil {
		return fault("Topics", "empty", "name at least one topic, or set TopicPattern")
	}
	faults := []error{c.checkPattern()}
	for i, t := range c.Topics {
		field, value := fmt.Sprintf("Topics[%d]", i), strconv.Quote(t)
		switch {
		case t == "":
			faults = append(faults, fault(field, value, "remove the empty name"))
		case !legalTopic.MatchString(t) || t == "." || t == "..":
			faults = append(faults, fault(field, value, `set the name of one topic: 1 to 249 of the characters a-z A-Z 0-9 . _ - but not "." or ".."`))
		}
	}
	return errors.Join(faults...)
}

func (c Config) checkPattern() error {
	switch {
	case c.TopicPattern == nil:
	case c.ConsumerGroup != nil:
		return fault("TopicPattern", c.TopicPattern, "set Brokers or Client instead of ConsumerGroup, which does not tell what topics there are")
	case c.TopicPattern.MatchString(""):
		return fault("TopicPattern", strconv.Quote(c.TopicPattern.String()),
			"it matches the empty string, which is no name: set ^orders- for example, or . for all topics")
	}
	return nil
}

// hookKinds are the interfaces of which a hook implements one at least.
func hookKinds() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[RebalanceHook](), reflect.TypeFor[PlanHook](), reflect.TypeFor[SessionEndHook](), reflect.TypeFor[CommitHook](), reflect.TypeFor[ErrorHook](),
		reflect.TypeFor[handler.TaskStartHook](), reflect.TypeFor[handler.TaskEndHook](), reflect.TypeFor[handler.ClaimStartHook](),
		reflect.TypeFor[handler.ClaimEndHook](), reflect.TypeFor[handler.GapHook](),
	}
}

func (c Config) checkHooks() error {
	var faults []error
	for i, v := range c.Hooks {
		if what := hook.Fault(v, hookKinds(), "OnError(error)"); what != "" {
			faults = append(faults, fmt.Errorf("%w: Config.Hooks[%d] %s", ErrConfig, i, what))
		}
	}
	return errors.Join(faults...)
}

// checkBase looks at the base alone, and then applies the plan to it, for what sarama or the plan refuse.
func (c Config) checkBase() error {
	base := c.base()
	if c.ConsumerGroup != nil || !c.planned() {
		return nil
	}
	if err := errors.Join(c.checkSASL(), c.checkListed()); err != nil {
		return err
	}
	if base != nil && base.Consumer.Fetch.Max > 0 {
		return fault("Sarama.Consumer.Fetch.Max", base.Consumer.Fetch.Max,
			"set 0: sarama skips a message beyond it, which would be lost; a large message is fetched whole without it")
	}
	_, err := c.settings(c.Plan)
	return err
}

// checkSASL finds credentials that would not be used, and those that are missing.
func (c Config) checkSASL() error {
	const field = "Sarama.Net.SASL."
	if c.Sarama == nil {
		return nil
	}
	s := &c.Sarama.Net.SASL
	if !s.Enable {
		if s.User != "" || s.Password != "" {
			return fault(field+"Enable", false, "set it to true, or User and Password to empty: they would not be used")
		}
		return nil
	}
	switch s.Mechanism {
	case "", sarama.SASLTypePlaintext, sarama.SASLTypeSCRAMSHA256, sarama.SASLTypeSCRAMSHA512:
	case sarama.SASLTypeOAuth, sarama.SASLTypeGSSAPI:
		return nil
	default:
		return fault(field+"Mechanism", strconv.Quote(string(s.Mechanism)), "set PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI")
	}
	switch {
	case s.User == "":
		return fault(field+"User", "empty", "set it, or Net.SASL.Enable to false")
	case s.Password == "":
		return fault(field+"Password", "empty", "set it, or Net.SASL.Enable to false")
	}
	return nil
}
