package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/handler/retry"
)

var nothing = handler.Func(func(context.Context, *handler.Task) error { return nil })

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func plan(tb testing.TB) *config.Plan {
	tb.Helper()
	p, err := config.For(5 * time.Minute)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// sound is a configuration that New accepts.
func sound(tb testing.TB) consumer.Config {
	tb.Helper()
	return consumer.Config{
		Brokers: []string{"127.0.0.1:1"}, Group: "reports", Topics: []string{"report-requests"}, Plan: plan(tb), Logger: quiet(),
	}
}

func noGroup([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) { return nil, nil }

// faults are configurations with a fault each.
type faults map[string]struct {
	change func(c *consumer.Config)
	names  string
}

func wantFaults(t *testing.T, list faults) {
	t.Helper()
	for name, test := range list {
		t.Run(name, func(t *testing.T) {
			cfg := sound(t)
			test.change(&cfg)
			c, err := consumer.New(cfg, nothing)
			if c != nil || !errors.Is(err, consumer.ErrConfig) || !strings.Contains(err.Error(), test.names) {
				t.Errorf("%v, %v: want a fault that names %s", c, err, test.names)
			}
		})
	}
}

func withBase(change func(*sarama.Config)) func(*consumer.Config) {
	return func(c *consumer.Config) {
		c.Sarama = sarama.NewConfig()
		change(c.Sarama)
	}
}

// B07: what cannot work is refused before anything is opened, by an error that names the field and the remedy.
func TestFaultsAreNamedBeforeAnythingIsOpened(t *testing.T) {
	wantFaults(t, faults{
		"no plan":               {func(c *consumer.Config) { c.Plan = nil }, "Plan"},
		"an empty plan":         {func(c *consumer.Config) { c.Plan = &config.Plan{} }, "Config.Plan is empty"},
		"no brokers":            {func(c *consumer.Config) { c.Brokers = nil }, "Brokers"},
		"an empty broker":       {func(c *consumer.Config) { c.Brokers = []string{"a:1", " "} }, "Brokers[1]"},
		"a broker without port": {func(c *consumer.Config) { c.Brokers = []string{"localhost"} }, "Brokers[0]"},
		"no group":              {func(c *consumer.Config) { c.Group = "" }, "Group"},
		"no topics":             {func(c *consumer.Config) { c.Topics = nil }, "Topics"},
		"an empty topic":        {func(c *consumer.Config) { c.Topics = []string{"a", ""} }, "Topics"},
		"negative slots":        {func(c *consumer.Config) { c.Slots = -1 }, "configuration: invalid handler options: Slots is -1"},
		"a bad retry":           {func(c *consumer.Config) { c.Retry = retry.Policy{Initial: -1} }, "Retry"},
		"no hook":               {func(c *consumer.Config) { c.Hooks = []any{noHook{}} }, "Hooks[0]"},
		"group and brokers":     {func(c *consumer.Config) { c.ConsumerGroup = noGroup }, "ConsumerGroup"},
		"pattern over a group": {func(c *consumer.Config) {
			c.Brokers, c.ConsumerGroup, c.TopicPattern = nil, noGroup, regexp.MustCompile("x")
		}, "TopicPattern"},
		"a fetch limit": {withBase(func(c *sarama.Config) { c.Consumer.Fetch.Max = 1 << 20 }), "Fetch.Max"},
		"strategies that clash": {withBase(func(c *sarama.Config) {
			c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky()}
		}), "GroupStrategies"},
		"an old version": {withBase(func(c *sarama.Config) { c.Version = sarama.V1_0_0_0 }), "Version"},
	})
}

// noHook has a method that looks like a hook's.
type noHook struct{}

func (noHook) OnErrors(error) {}

func TestANilHandlerIsRefused(t *testing.T) {
	var none handler.Func
	for _, h := range []handler.Handler{nil, none, handler.Legacy("worker", nil)} {
		if _, err := consumer.New(sound(t), h); !errors.Is(err, consumer.ErrConfig) || !errors.Is(err, handler.ErrOptions) {
			t.Errorf("%v for %T", err, h)
		}
	}
}

// B09: the caller's own configuration is not touched.
func TestTheBaseIsNotModified(t *testing.T) {
	cfg := sound(t)
	cfg.Sarama = sarama.NewConfig()
	cfg.Sarama.ClientID, cfg.Sarama.RackID = "reports-7", "rack-1"
	before := *cfg.Sarama
	if _, err := consumer.New(cfg, nothing); err != nil {
		t.Fatal(err)
	}
	after := *cfg.Sarama
	if before.Consumer.Group.Session != after.Consumer.Group.Session || before.Metadata.RefreshFrequency != after.Metadata.RefreshFrequency ||
		before.ClientID != after.ClientID || before.Net.ReadTimeout != after.Net.ReadTimeout ||
		len(after.Consumer.Group.Rebalance.GroupStrategies) != 1 {
		t.Error("the base was changed")
	}
}

func TestRunRunsOnce(t *testing.T) {
	c, err := consumer.New(sound(t), nothing)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Run(ctx); err != nil {
		t.Errorf("a stop before the start: %v", err)
	}
	if err := c.Run(t.Context()); !errors.Is(err, consumer.ErrRanBefore) {
		t.Errorf("second Run: %v", err)
	}
	if s := c.Status(); s.State != consumer.StateStopped || len(s.Claims) != 0 {
		t.Errorf("status %+v", s)
	}
}

// A group of the user's that cannot be made for the function's own reasons ends Run, with a remedy.
func TestAGroupThatCannotBeMadeEndsRun(t *testing.T) {
	no := errors.New("no")
	for want, f := range map[error]func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error){
		consumer.ErrConfig:     noGroup,
		no:                     func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) { return nil, no },
		sarama.ErrInvalidTopic: func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) { return nil, sarama.ErrInvalidTopic },
	} {
		err := borrowing(t, f).Run(t.Context())
		fatal, ok := errors.AsType[*consumer.FatalError](err)
		if !ok || !errors.Is(err, want) || fatal.Remedy == "" {
			t.Errorf("Run returned %v, want a FatalError of %v", err, want)
		}
	}
}

func borrowing(t *testing.T, f func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error)) *consumer.Consumer {
	t.Helper()
	return newConsumer(t, func(cfg *consumer.Config) { cfg.Brokers, cfg.ConsumerGroup = nil, f })
}

// Brokers are waited for too where a function of the user's makes the group, and a stop ends the wait.
func TestAGroupOfTheUsersWaitsForBrokers(t *testing.T) {
	away := []error{
		fmt.Errorf("make the group: %w", sarama.ErrOutOfBrokers), sarama.ErrConsumerCoordinatorNotAvailable,
		&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}, io.EOF,
	}
	for back, want := range map[bool]int{true: 1, false: 0} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(context.Background(), time.Minute)
			defer stop()
			g, calls := &scripted{errs: make(chan error)}, 0
			g.consume = func(run context.Context) error {
				stop()
				return context.Cause(run)
			}
			c := borrowing(t, func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) {
				calls++
				if back && calls > len(away) {
					return g, nil
				}
				return nil, away[calls%len(away)]
			})
			if err := c.Run(ctx); err != nil {
				t.Errorf("Run returned %v", err)
			}
			if g.n != want || calls <= len(away) {
				t.Errorf("brokers come back: %v: %d sessions after %d calls", back, g.n, calls)
			}
		})
	}
}
