package consumer_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// B07: what can be seen to be wrong without a broker is not tried for ever.
func TestSlipsAreNamed(t *testing.T) {
	wantFaults(t, faults{
		"blanks around a broker":   {func(c *consumer.Config) { c.Brokers = []string{" a:9092"} }, `Config.Brokers[0] is " a:9092": remove the blanks`},
		"a blank in a broker":      {func(c *consumer.Config) { c.Brokers = []string{"a b:9092"} }, `Brokers[0] is "a b:9092": set host:port`},
		"brokers in one entry":     {func(c *consumer.Config) { c.Brokers = []string{"a:1,b:1"} }, "Brokers[0]"},
		"a broker's port too high": {func(c *consumer.Config) { c.Brokers = []string{"a:99999"} }, `"a:99999": set a port from 1 to 65535`},
		"a broker's port of zero":  {func(c *consumer.Config) { c.Brokers = []string{"a:0"} }, `Brokers[0] is "a:0": set a port`},
		"a broker's port by name":  {func(c *consumer.Config) { c.Brokers = []string{"a:kafka"} }, "set a port"},
		"a broker with a scheme":   {func(c *consumer.Config) { c.Brokers = []string{"kafka://a:9092"} }, "set host:port"},
		"a topic with a blank":     {func(c *consumer.Config) { c.Topics = []string{"a", "a b"} }, `Config.Topics[1] is "a b": set the name of one topic`},
		"topics in one entry":      {func(c *consumer.Config) { c.Topics = []string{"a,b"} }, `Topics[0] is "a,b"`},
		"a topic of dots":          {func(c *consumer.Config) { c.Topics = []string{".."} }, `Topics[0] is ".."`},
		"a long topic":             {func(c *consumer.Config) { c.Topics = []string{strings.Repeat("a", 250)} }, "1 to 249"},
		"an empty pattern":         {func(c *consumer.Config) { c.TopicPattern = regexp.MustCompile("") }, `TopicPattern is "": it matches the empty string`},
		"a pattern of anything":    {func(c *consumer.Config) { c.TopicPattern = regexp.MustCompile("x|") }, `TopicPattern is "x|"`},
		"a nil strategy":           {offer(nil, sticky()), "Config.OfferAlso[0] is nil: remove it"},
		"a strategy twice":         {offer(sticky(), sticky()), "Config.OfferAlso[1] is cooperative-sticky: remove it: OfferAlso[0] offers that already"},
		"our own strategy":         {offer(ours(t)), "Config.OfferAlso[0] is evenkeel: remove it: the member by itself offers that already"},
		"a nil strategy listed":    {list(sticky(), nil), "Config." + listed + "[1] is nil: remove it"},
		"a strategy listed twice":  {list(sticky(), sticky()), "Config." + listed + "[1] is cooperative-sticky: remove it: " + listed + "[0] offers that already"},
		"an eager strategy":        {offer(sarama.NewBalanceStrategyRange()), "Config.OfferAlso[0] is range: it rebalances eagerly: set config.Input.Eager to true"},
		"strategies at two places": {func(c *consumer.Config) {
			offer(sarama.NewBalanceStrategyCooperativeSticky())(c)
			c.Sarama = sarama.NewConfig()
			c.Sarama.Consumer.Group.Rebalance.GroupStrategies = c.OfferAlso
		}, "Config.OfferAlso is set: leave it empty"},
		"a nil hook":                 {func(c *consumer.Config) { c.Hooks = []any{nil} }, "Config.Hooks[0] is nil: remove it"},
		"a hook with another event":  {func(c *consumer.Config) { c.Hooks = []any{byPointer{}} }, "it has OnRebalance(*consumer.Rebalance) error; RebalanceHook wants OnRebalance(consumer.Rebalance)"},
		"a hook with a slip beside":  {func(c *consumer.Config) { c.Hooks = []any{halfHook{}} }, "it has OnTaskEnd(); TaskEndHook wants OnTaskEnd(handler.TaskEnd)"},
		"a hook without its pointer": {func(c *consumer.Config) { c.Hooks = []any{commits{}} }, "its OnCommit has a pointer as receiver; pass a pointer to it"},
		"strategies of a client": {func(c *consumer.Config) {
			c.Brokers, c.Client = nil, clientWith(sticky(), sticky())
		}, "Config.Client.Config().Consumer.Group.Rebalance.GroupStrategies[1] is cooperative-sticky: remove it"},
		"a literal":             {func(c *consumer.Config) { c.Sarama = &sarama.Config{} }, "Config.Sarama: sarama config: base is a literal without sarama's defaults"},
		"unused credentials":    {withBase(func(c *sarama.Config) { c.Net.SASL.User = "u" }), "Config.Sarama.Net.SASL.Enable is false"},
		"no password":           {withBase(func(c *sarama.Config) { c.Net.SASL.Enable, c.Net.SASL.User = true, "u" }), "Config.Sarama.Net.SASL.Password is empty: set it, or Net.SASL.Enable to false"},
		"no user":               {withBase(func(c *sarama.Config) { c.Net.SASL.Enable = true }), "Config.Sarama.Net.SASL.User is empty"},
		"a mechanism of nobody": {withBase(func(c *sarama.Config) { c.Net.SASL.Enable, c.Net.SASL.Mechanism = true, "FOO" }), `Config.Sarama.Net.SASL.Mechanism is "FOO": set PLAIN`},
	})
}

func offer(s ...sarama.BalanceStrategy) func(*consumer.Config) {
	return func(c *consumer.Config) { c.OfferAlso = s }
}

const listed = "Sarama.Consumer.Group.Rebalance.GroupStrategies"

func list(s ...sarama.BalanceStrategy) func(*consumer.Config) {
	return withBase(func(c *sarama.Config) { c.Consumer.Group.Rebalance.GroupStrategies = s })
}

// strategyClient is a client that has been configured with strategies.
type strategyClient struct {
	sarama.Client
	conf *sarama.Config
}

func clientWith(s ...sarama.BalanceStrategy) strategyClient {
	conf := sarama.NewConfig()
	conf.Consumer.Group.Rebalance.GroupStrategies = s
	return strategyClient{conf: conf}
}

func (c strategyClient) Config() *sarama.Config { return c.conf }
func (strategyClient) Closed() bool             { return false }

func sticky() sarama.BalanceStrategy { return sarama.NewBalanceStrategyCooperativeSticky() }

func ours(t *testing.T) sarama.BalanceStrategy {
	t.Helper()
	h, err := handler.New(nothing, handler.Options{Plan: plan(t)})
	if err != nil {
		t.Fatal(err)
	}
	return h.WorkPreserving()
}

// The plan is not applied to strategies that are no good, which would tell of them once more.
func TestAListedStrategyIsToldOfOnce(t *testing.T) {
	cfg := sound(t)
	list(nil, sticky())(&cfg)
	_, err := consumer.New(cfg, nothing)
	if err == nil || strings.Count(err.Error(), "GroupStrategies") != 1 {
		t.Errorf("told %v", err)
	}
}

// byPointer and halfHook have methods that look like a hook's, the latter beside one that is.
type (
	byPointer struct{}
	halfHook  struct{}
)

func (byPointer) OnRebalance(*consumer.Rebalance) error { return nil }
func (halfHook) OnError(error)                          {}
func (halfHook) OnTaskEnd()                             {}

// Who has several faults to mend hears of all at once.
func TestAllFaultsAreNamedAtOnce(t *testing.T) {
	cfg := sound(t)
	cfg.Group, cfg.Brokers, cfg.Topics, cfg.Slots, cfg.Hooks = "", []string{"a", "b"}, []string{"a b"}, -1, []any{nil}
	_, err := consumer.New(cfg, nil)
	if !errors.Is(err, consumer.ErrConfig) || !errors.Is(err, handler.ErrOptions) {
		t.Fatal(err)
	}
	for _, field := range []string{"Group", "Brokers[0]", "Brokers[1]", "Topics[0]", "Slots", "Hooks[0]", "handler is nil"} {
		if strings.Count(err.Error(), field) != 1 {
			t.Errorf("%s is not named once:\n%v", field, err)
		}
	}
}
