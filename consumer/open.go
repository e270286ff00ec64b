package consumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/internal/commit"
	"github.com/evenkeel-go/evenkeel/internal/link"
	"github.com/evenkeel-go/evenkeel/internal/offset"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// client is what sarama's group sees: our connections, with the configuration of the plan.
type client struct {
	*link.Link
	conf *sarama.Config
}

// Config implements sarama.Client.
func (c client) Config() *sarama.Config { return c.conf }

// errStopped says that the stop came before there was a connection.
var errStopped = errors.New("stopped before the group's coordinator answered")

// open makes the way to Kafka. The error is errStopped when ctx ends before there is one.
func (c *Consumer) open(ctx context.Context) (*membership, error) {
	m := &membership{Consumer: c, run: ctx, plan: c.cfg.Plan, tasks: c.tasks.Load()}
	m.followUp = &followUp{m: m}
	if c.cfg.ConsumerGroup != nil {
		return m, m.borrow(ctx)
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

// borrow takes the group that the user makes, once there are brokers to make it with.
func (m *membership) borrow(ctx context.Context) error {
	m.watched.enter(StateConnecting)
	var tries backoff
	for ctx.Err() == nil {
		group, err := m.cfg.ConsumerGroup(m.hear(m.tasks.BalanceStrategies()))
		if err == nil && group != nil {
			m.group = group
			return nil
		}
		if fatal := m.notMade(ctx, &tries, err); fatal != nil {
			return fatal
		}
	}
	return errStopped
}

// notMade waits for the next try, unless it cannot help.
func (m *membership) notMade(ctx context.Context, tries *backoff, err error) (fatal error) {
	switch {
	case err == nil:
		return m.fatal(remedyGroup, fault("ConsumerGroup", "a function that returned nil", "return a group or an error"))
	case !passing(err):
		return cmp.Or(m.explain(err), error(m.fatal(remedyGroup, err)))
	default:
		return m.tryLater(ctx, tries, "no group from Config.ConsumerGroup: trying again", err)
	}
}

const remedyGroup = "mend the function in Config.ConsumerGroup"

// passing finds errors of brokers and the network, which may be better at the next try. A user's own error is told at once.
func passing(err error) bool {
	var (
		answer sarama.KError
		failed net.Error
	)
	return errors.Is(err, sarama.ErrOutOfBrokers) || errors.Is(err, io.EOF) || errors.As(err, &answer) || errors.As(err, &failed) || link.Refused(err)
}

// connect waits for the group's coordinator.
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
		if fatal := c.tryLater(ctx, &tries, "cannot connect to the group's coordinator: trying again", hinted(err, conf), c.whereToLook()...); fatal != nil {
			return nil, fatal
		}
	}
	return nil, errStopped
}

// whereToLook is what to check when no connection comes about. Some brokers may have answered.
func (c *Consumer) whereToLook() []slog.Attr {
	if c.cfg.Client != nil {
		return []slog.Attr{slog.String("hint", "check the addresses, Net.TLS and Net.SASL of Config.Client")}
	}
	return []slog.Attr{
		slog.Any("brokers", c.cfg.Brokers), slog.String("hint", "check Config.Brokers, and Net.TLS and Net.SASL of Config.Sarama"),
	}
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

// tellMetadataLimit warns where the record of what finishes out of order has less room than a broker gives by default.
func (m *membership) tellMetadataLimit() {
	if n := m.plan.Input.Broker.MaxMetadataBytes; n < offset.MaxText {
		m.log.Warn("the brokers take little metadata with a commit (offset.metadata.max.bytes): where what finishes beyond an unfinished "+
			"task cannot be recorded in it, fewer tasks run", slog.Int("bytes", n), slog.Int("default", offset.MaxText))
	}
}

// commitSpacing is the shortest time between two requests of the commit loop: tasks of less than a second share them, so that a member
// with many partitions asks its coordinator ten times a second at most.
func commitSpacing(p *config.Plan) time.Duration {
	if p.Input.Expected < time.Second {
		return 100 * time.Millisecond
	}
	return 0
}

// over sets the membership up on a link.
func (m *membership) over(ctx context.Context, l *link.Link) error {
	if err := m.follow(m.withLimits(ctx, l), l); err != nil {
		return err
	}
	conf, err := m.cfg.settings(m.plan)
	if err != nil {
		return err
	}
	m.alone = config.Chosen(m.cfg.base()) == nil && len(m.cfg.OfferAlso) == 0
	rebalance := &conf.Consumer.Group.Rebalance
	rebalance.GroupStrategies = m.hear(m.tasks.BalanceStrategies(m.offers(m.tasks, conf)...))
	group, err := sarama.NewConsumerGroupFromClient(m.cfg.Group, client{Link: l, conf: conf})
	if err != nil {
		return err
	}
	m.link, m.conf, m.group, m.lateCommits = l, conf, group, newThrottle(m.log)
	m.tellMetadataLimit()
	m.commits = commit.New(commit.Options{
		Send: m.sendCommit, Moved: m.coordinatorMoved, Notify: m.commitAnswered, LookUp: m.committed,
		MaxMetadata: m.plan.Input.Broker.MaxMetadataBytes, Spacing: commitSpacing(m.plan),
	})
	return nil
}

// hear makes the membership hear each assignment too, beside the handler.
func (m *membership) hear(strategies []sarama.BalanceStrategy) []sarama.BalanceStrategy {
	for i, s := range strategies {
		if ours, ok := s.(*strategy.Preserving); ok {
			ours.Complete(m.followUp.report)
			ours.Follow(m.planned)
			ours.Attend(m.followUp.told)
		}
		strategies[i] = strategy.Heard(s, func(a strategy.Assignment, generation int32) { m.assigned(s.Name(), a, generation) })
	}
	return strategies
}
