package consumer_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
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

// B07: what cannot work is refused before anything is opened, by an error that names the field and the remedy.
func TestFaultsAreNamedBeforeAnythingIsOpened(t *testing.T) {
	withBase := func(change func(*sarama.Config)) func(*consumer.Config) {
		return func(c *consumer.Config) {
			c.Sarama = sarama.NewConfig()
			change(c.Sarama)
		}
	}
	for name, test := range map[string]struct {
		change func(c *consumer.Config)
		names  string
	}{
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
	} {
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
	cfg.Sarama.Net.SASL.User, cfg.Sarama.ClientID, cfg.Sarama.RackID = "u", "reports-7", "rack-1"
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

func TestAGroupThatCannotBeMadeEndsRun(t *testing.T) {
	want := errors.New("no")
	for _, f := range []func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error){
		noGroup, func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) { return nil, want },
	} {
		cfg := sound(t)
		cfg.Brokers, cfg.ConsumerGroup = nil, f
		c, err := consumer.New(cfg, nothing)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err == nil {
			t.Error("Run returned nil")
		}
	}
}
