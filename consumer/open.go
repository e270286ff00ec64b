package consumer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"syscall"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// client is what sarama's group sees: our connections, with the configuration of the plan.
type client struct {
	*link.Link
	conf *sarama.Config
}

// Config implements sarama.Client.
func (c client) Config() *sarama.Config { return c.conf }

// errStopped says that the stop came before a broker had answered.
var errStopped = errors.New("stopped before a broker answered")

// open makes the way to Kafka. The error is errStopped when ctx ends before a broker has answered.
func (c *Consumer) open(ctx context.Context) (*membership, error) {
	m := &membership{Consumer: c, plan: c.cfg.Plan}
	if c.cfg.ConsumerGroup != nil {
		return m, m.borrow()
	}
	l, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.over(ctx, l); err != nil {
		_ = l.Close()
		return nil, err
	}
	return m, nil
}

// borrow takes the group that the user makes.
func (m *membership) borrow() error {
	group, err := m.cfg.ConsumerGroup(m.hear(m.tasks.BalanceStrategies()))
	if err == nil && group == nil {
		err = fault("ConsumerGroup", "a function that returned nil", "return a group or an error")
	}
	m.group = group
	return err
}

// connect waits for a broker that answers.
func (c *Consumer) connect(ctx context.Context) (*link.Link, error) {
	c.watched.enter(StateConnecting)
	conf, err := c.cfg.settings(c.cfg.Plan)
	if err != nil {
		return nil, err
	}
	var tries backoff
	for ctx.Err() == nil {
		l, err := c.dial(ctx, conf)
		if err == nil {
			return l, nil
		}
		if fatal := c.tryLater(ctx, &tries, "no broker answers: trying again", hinted(err, conf)); fatal != nil {
			return nil, fatal
		}
	}
	return nil, errStopped
}

// hinted adds what a connection that is closed without a word mostly means: the two ends differ about TLS or SASL.
func hinted(err error, conf *sarama.Config) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	return fmt.Errorf("%w: a broker that hangs up without an answer mostly expects another security protocol: "+
		"Net.TLS.Enable is %v and Net.SASL.Enable is %v in Config.Sarama", err, conf.Net.TLS.Enable, conf.Net.SASL.Enable)
}

func (c *Consumer) dial(ctx context.Context, conf *sarama.Config) (*link.Link, error) {
	opts := link.Options{
		Short: c.cfg.Plan.CallTimeout, Long: c.cfg.Plan.JoinReadTimeout, Patience: c.cfg.Plan.Patience,
		OnMissing: c.topicMissing, OnReplaced: c.topicReplaced, Logger: c.log,
	}
	if c.cfg.Client != nil {
		return link.Over(c.cfg.Client, c.cfg.Group, opts)
	}
	return link.New(ctx, c.cfg.Brokers, c.cfg.Group, conf, opts)
}

// over sets the membership up on a link.
func (m *membership) over(ctx context.Context, l *link.Link) error {
	m.plan = m.withLimits(ctx, l)
	conf, err := m.cfg.settings(m.plan)
	if err != nil {
		return err
	}
	rebalance := &conf.Consumer.Group.Rebalance
	rebalance.GroupStrategies = m.hear(m.tasks.BalanceStrategies(rebalance.GroupStrategies...))
	group, err := sarama.NewConsumerGroupFromClient(m.cfg.Group, client{Link: l, conf: conf})
	if err != nil {
		return err
	}
	m.link, m.conf, m.group, m.lateCommits = l, conf, group, newThrottle(m.log)
	m.commits = commit.New(commit.Options{
		Send: m.sendCommit, Moved: m.coordinatorMoved, Notify: m.commitAnswered, LookUp: m.committed,
		MaxMetadata: m.plan.Input.Broker.MaxMetadataBytes,
	})
	return nil
}

// hear makes the membership hear each assignment too, beside the handler.
func (m *membership) hear(strategies []sarama.BalanceStrategy) []sarama.BalanceStrategy {
	for i, s := range strategies {
		strategies[i] = strategy.Heard(s, m.assigned)
	}
	return strategies
}

// limitsTimeout bounds the look at the brokers' settings, which are not worth waiting for.
const limitsTimeout = 3 * time.Second

// withLimits works the brokers' limits into the plan where they can be read; else the defaults are assumed, and a refusal of the
// session timeout is explained.
func (m *membership) withLimits(ctx context.Context, l *link.Link) *config.Plan {
	read := make(chan config.BrokerLimits, 1)
	go func() { read <- readLimits(l, m.cfg.Topics) }() // ends with the answer, or with the link
	ctx, cancel := context.WithTimeout(ctx, limitsTimeout)
	defer cancel()
	select {
	case limits := <-read:
		plan, err := m.cfg.Plan.WithBroker(limits)
		if err == nil {
			return plan
		}
		m.log.WarnContext(ctx, "the plan does not fit the brokers' limits: going on with it as it is", slog.Any("error", err))
	case <-ctx.Done():
	}
	return m.cfg.Plan
}

// readLimits asks one broker for its settings. A user who may not read them, or a broker that knows no such request, is no fault.
func readLimits(l *link.Link, topics []string) (limits config.BrokerLimits) {
	if len(l.Brokers()) == 0 { // nothing was asked for yet, as Metadata.Full is off
		_ = l.RefreshMetadata(topics...)
	}
	brokers := l.Brokers()
	if len(brokers) == 0 {
		return limits
	}
	admin, err := sarama.NewClusterAdminFromClient(l) // not closed: that would close the link
	if err != nil {
		return limits
	}
	answers, err := admin.DescribeConfigs([]*sarama.ConfigResource{{
		Type: sarama.BrokerResource, Name: strconv.Itoa(int(brokers[0].ID())),
		ConfigNames: []string{minSession, maxSession, maxMetadata},
	}}, sarama.DescribeConfigsOptions{})
	if err != nil {
		return limits
	}
	for _, a := range answers {
		for _, e := range a.Configs {
			takeLimit(&limits, e)
		}
	}
	return limits
}

// Names of the broker settings that bound a member's.
const (
	minSession  = "group.min.session.timeout.ms"
	maxSession  = "group.max.session.timeout.ms"
	maxMetadata = "offset.metadata.max.bytes"
)

func takeLimit(limits *config.BrokerLimits, e sarama.ConfigEntry) {
	n, err := strconv.Atoi(e.Value)
	if err != nil {
		return
	}
	switch e.Name {
	case minSession:
		limits.MinSessionTimeout = time.Duration(n) * time.Millisecond
	case maxSession:
		limits.MaxSessionTimeout = time.Duration(n) * time.Millisecond
	case maxMetadata:
		limits.MaxMetadataBytes = n
	}
}
