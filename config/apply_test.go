package config_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

func mustApply(t *testing.T, in config.Input, base *sarama.Config) *sarama.Config {
	t.Helper()
	cfg, err := mustPlan(t, in).Apply(base)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return cfg
}

func mustApplyMember(t *testing.T, in config.Input, base *sarama.Config) *sarama.Config {
	t.Helper()
	cfg, err := mustPlan(t, in).ApplyMember(base)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return cfg
}

// silentDialer stands for a user's proxy.
type silentDialer struct{ name string }

func (*silentDialer) Dial(string, string) (net.Conn, error) { return nil, net.ErrClosed }

type tokens struct{}

func (*tokens) Token() (*sarama.AccessToken, error) { return &sarama.AccessToken{Token: "t"}, nil }

type passThrough struct{}

func (*passThrough) OnConsume(*sarama.ConsumerMessage) {}
func (*passThrough) OnSend(*sarama.ProducerMessage)    {}

// secured is a base with much that the plan has no opinion on.
func secured() *sarama.Config {
	c := sarama.NewConfig()
	c.ClientID, c.RackID, c.Version = "reports", "eu-1a", sarama.V3_6_0_0
	c.Net.TLS.Enable, c.Net.TLS.Config = true, &tls.Config{ServerName: "kafka", MinVersion: tls.VersionTLS13}
	s := &c.Net.SASL
	s.Enable, s.Mechanism, s.User, s.Password = true, sarama.SASLTypeSCRAMSHA512, "alice", "geheim"
	s.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return nil }
	s.TokenProvider = &tokens{}
	c.Net.Proxy.Enable, c.Net.Proxy.Dialer = true, &silentDialer{"proxy"}
	c.Net.KeepAlive, c.Net.MaxOpenRequests = 7*time.Second, 3
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	c.Consumer.Interceptors = []sarama.ConsumerInterceptor{&passThrough{}}
	c.Consumer.Group.Member.UserData = []byte("data")
	c.Consumer.Fetch.MaxBytes, c.Consumer.Fetch.Max = 1<<20, 1<<19
	c.Consumer.Offsets.AutoCommit.Interval = 3 * time.Second
	c.Producer.Interceptors = []sarama.ProducerInterceptor{&passThrough{}}
	c.Producer.Partitioner = sarama.NewRandomPartitioner
	c.Producer.Compression = sarama.CompressionZSTD
	c.Metadata.Full, c.Metadata.Timeout = false, 9*time.Second
	c.Admin.Timeout = 11 * time.Second
	return c
}

// settings are the leaves of a config by path. Functions are left out: they cannot be compared.
func settings(v reflect.Value, path string, into map[string]any) map[string]any {
	for field, f := range v.Fields() {
		name := path + field.Name
		switch {
		case f.Kind() == reflect.Func || !field.IsExported():
		case f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[sarama.KafkaVersion]():
			settings(f, name+".", into)
		default:
			into[name] = f.Interface()
		}
	}
	return into
}

func allSettings(c *sarama.Config) map[string]any {
	return settings(reflect.ValueOf(c).Elem(), "", map[string]any{})
}

// derivedFields are all that Apply may change.
var derivedFields = []string{
	"Consumer.Group.Session.Timeout", "Consumer.Group.Heartbeat.Interval",
	"Consumer.Group.Rebalance.Timeout", "Consumer.Group.Rebalance.Retry.Max", "Consumer.Group.Rebalance.Retry.Backoff",
	"Consumer.Group.Rebalance.GroupStrategies", "Consumer.Group.ResetInvalidOffsets", "Consumer.Group.InstanceId",
	"Consumer.Fetch.Default", "Consumer.Fetch.Max", "Consumer.MaxWaitTime", "Consumer.MaxProcessingTime", "Consumer.Retry.Max",
	"Consumer.Return.Errors", "Consumer.Offsets.Initial", "Consumer.Offsets.AutoCommit.Enable",
	"ChannelBufferSize", "Metadata.RefreshFrequency", "Metadata.Retry.Max", "Metadata.Retry.Backoff",
	"Net.DialTimeout", "Net.ReadTimeout", "Net.WriteTimeout",
}

// B09: security, client id, version and rack stay, and the caller's object is not modified.
func TestB09ApplyKeepsWhatTheUserSet(t *testing.T) {
	applies := map[string]func(*testing.T, config.Input, *sarama.Config) *sarama.Config{"Apply": mustApply, "ApplyMember": mustApplyMember}
	mine := map[string][]string{"Apply": nil, "ApplyMember": {"Metadata.Timeout"}}
	for name, apply := range applies {
		t.Run(name, func(t *testing.T) {
			base := secured()
			before := allSettings(base)
			got := allSettings(apply(t, config.Input{Expected: 5 * time.Minute, InstanceID: "pod-1"}, base))
			if after := allSettings(base); !reflect.DeepEqual(before, after) {
				t.Errorf("base was modified:\n%v\n%v", before, after)
			}
			for _, field := range append(mine[name], derivedFields...) {
				delete(got, field)
				delete(before, field)
			}
			for field, want := range before {
				if !reflect.DeepEqual(got[field], want) {
					t.Errorf("%s = %v, want %v", field, got[field], want)
				}
			}
		})
	}
}

// B09: what is shared and what is not.
func TestB09ApplyCopiesSlices(t *testing.T) {
	base := secured()
	base.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	cfg := mustApply(t, config.Input{Expected: sec}, base)
	cfg.Consumer.Group.Rebalance.GroupStrategies[0] = nil
	cfg.Consumer.Group.Member.UserData[0] = 'X'
	cfg.Consumer.Interceptors[0] = nil
	cfg.Producer.Interceptors[0] = nil
	if base.Consumer.Group.Rebalance.GroupStrategies[0] == nil || base.Consumer.Group.Member.UserData[0] == 'X' ||
		base.Consumer.Interceptors[0] == nil || base.Producer.Interceptors[0] == nil {
		t.Error("a change of the copy is seen in base")
	}
	if cfg.MetricRegistry != base.MetricRegistry || cfg.Net.TLS.Config != base.Net.TLS.Config {
		t.Error("metric registry and TLS config have to be the user's own")
	}
	if reflect.ValueOf(cfg.Producer.Partitioner).Pointer() != reflect.ValueOf(base.Producer.Partitioner).Pointer() {
		t.Error("the partitioner is not the user's")
	}
}

func TestApplySetsThePlan(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: 5 * time.Minute, InstanceID: "pod-1"})
	cfg := mustApply(t, p.Input, nil)
	g, c := cfg.Consumer.Group, cfg.Consumer
	expect(t, "session", g.Session.Timeout, p.SessionTimeout)
	expect(t, "heartbeat", g.Heartbeat.Interval, p.HeartbeatInterval)
	expect(t, "rebalance", g.Rebalance.Timeout, p.RebalanceTimeout)
	expect(t, "retries", g.Rebalance.Retry.Max, 40)
	expect(t, "backoff", g.Rebalance.Retry.Backoff, 250*ms)
	expect(t, "instance id", g.InstanceId, "pod-1")
	expect(t, "reset", g.ResetInvalidOffsets, true)
	expect(t, "buffer", cfg.ChannelBufferSize, 1)
	expect(t, "processing time", c.MaxProcessingTime, 100*ms)
	expect(t, "fetch", c.Fetch.Default, 64<<10)
	expect(t, "fetch max", c.Fetch.Max, 0)
	expect(t, "wait", c.MaxWaitTime, 250*ms)
	expect(t, "consumer retries", c.Retry.Max, 0)
	expect(t, "errors", c.Return.Errors, true)
	expect(t, "initial", c.Offsets.Initial, sarama.OffsetOldest)
	expect(t, "refresh", cfg.Metadata.RefreshFrequency, time.Minute)
	expect(t, "dial", cfg.Net.DialTimeout, 5*sec)
	expect(t, "write", cfg.Net.WriteTimeout, 10*sec)
	expect(t, "metadata backoff", cfg.Metadata.Retry.Backoff, 250*ms)
}

func TestApplyOverridesWhatWouldLoseMessages(t *testing.T) {
	base := sarama.NewConfig()
	base.Consumer.Fetch.Max = 1 << 20
	base.Consumer.Retry.Max = 5
	base.Consumer.Offsets.AutoCommit.Enable = false
	base.Consumer.Group.ResetInvalidOffsets = false
	base.Consumer.MaxProcessingTime = hr
	base.Metadata.Retry.Max, base.Metadata.Retry.Backoff = 9, 9*sec
	cfg := mustApply(t, config.Input{Expected: hr}, base)
	expect(t, "fetch max", cfg.Consumer.Fetch.Max, 0)
	expect(t, "consumer retries", cfg.Consumer.Retry.Max, 0)
	expect(t, "autocommit", cfg.Consumer.Offsets.AutoCommit.Enable, true)
	expect(t, "reset", cfg.Consumer.Group.ResetInvalidOffsets, true)
	expect(t, "processing time", cfg.Consumer.MaxProcessingTime, 100*ms)
	expect(t, "metadata retries", cfg.Metadata.Retry.Max, 3)
	expect(t, "metadata backoff", cfg.Metadata.Retry.Backoff, 250*ms)
}

// The join goes over the same connection, so its deadline is everybody's.
func TestApplyReadTimeoutOutlastsTheJoin(t *testing.T) {
	for name, c := range map[string]struct {
		in   config.Input
		want time.Duration
	}{
		"own":                  {config.Input{Expected: 5 * time.Minute}, 95 * sec},
		"short tasks":          {config.Input{Expected: sec}, 23600 * ms},
		"beside Java":          {config.Input{Expected: sec, GroupRebalanceTimeout: 5 * time.Minute}, 305 * sec},
		"beside Java's longer": {config.Input{Expected: sec, GroupRebalanceTimeout: 10 * hr}, 305 * sec},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := mustApply(t, c.in, nil)
			expect(t, "Net.ReadTimeout", cfg.Net.ReadTimeout, c.want)
			expect(t, "Metadata.Retry.Max", cfg.Metadata.Retry.Max, 3)
		})
	}
}

func TestApplyMember(t *testing.T) {
	cfg := mustApplyMember(t, config.Input{Expected: 5 * time.Minute, GroupRebalanceTimeout: hr}, nil)
	expect(t, "autocommit", cfg.Consumer.Offsets.AutoCommit.Enable, false)
	expect(t, "errors", cfg.Consumer.Return.Errors, true)
	expect(t, "dial", cfg.Net.DialTimeout, 5*sec)
	expect(t, "read", cfg.Net.ReadTimeout, 10*sec)
	expect(t, "write", cfg.Net.WriteTimeout, 10*sec)
	expect(t, "retries", cfg.Metadata.Retry.Max, 20)
	expect(t, "backoff", cfg.Metadata.Retry.Backoff, 250*ms)
	expect(t, "metadata timeout", cfg.Metadata.Timeout, 15*sec)

	tiny := config.Input{Expected: hr, CrashDetection: 3 * sec, Broker: broker(sec, 0)}
	expect(t, "read, below the rebalance timeout", mustApplyMember(t, tiny, nil).Net.ReadTimeout, 2*sec)
	expect(t, "write, below the rebalance timeout", mustApplyMember(t, tiny, nil).Net.WriteTimeout, 2*sec)
	tiny.CrashDetection = 4 * sec
	expect(t, "read, whole milliseconds", mustApplyMember(t, tiny, nil).Net.ReadTimeout, 2666*ms)
	tiny.CrashDetection = sec
	expect(t, "read, at least", mustApplyMember(t, tiny, nil).Net.ReadTimeout, sec)
}

func TestInstanceIDOfBase(t *testing.T) {
	base := sarama.NewConfig()
	base.Consumer.Group.InstanceId = "pod-1"
	expect(t, "kept", mustApply(t, config.Input{Expected: sec}, base).Consumer.Group.InstanceId, "pod-1")
	expect(t, "same", mustApply(t, config.Input{Expected: sec, InstanceID: "pod-1"}, base).Consumer.Group.InstanceId, "pod-1")
	_, err := mustPlan(t, config.Input{Expected: sec, InstanceID: "pod-2"}).Apply(base)
	wantFault(t, err, config.ErrBase, "Consumer.Group.InstanceId", "pod-1", "pod-2")
}

func TestVersion(t *testing.T) {
	old := func(v sarama.KafkaVersion) *sarama.Config {
		c := sarama.NewConfig()
		c.Version = v
		return c
	}
	unasked := sarama.NewConfig()
	unasked.ApiVersionsRequest = false
	plain, plainEager, static := config.Input{Expected: sec}, config.Input{Expected: sec, Eager: true}, config.Input{Expected: sec, Eager: true, InstanceID: "a"}
	for name, c := range map[string]struct {
		in   config.Input
		base *sarama.Config
		want sarama.KafkaVersion
	}{
		"default rises for cooperative":    {plain, nil, sarama.V3_2_0_0},
		"not where nothing is negotiated":  {plain, unasked, sarama.DefaultVersion},
		"default is enough for eager":      {plainEager, nil, sarama.DefaultVersion},
		"chosen, newer":                    {plain, old(sarama.V4_0_0_0), sarama.V4_0_0_0},
		"chosen, just enough":              {plain, old(sarama.V2_4_0_0), sarama.V2_4_0_0},
		"chosen, just enough for static":   {static, old(sarama.V2_3_0_0), sarama.V2_3_0_0},
		"chosen, just enough for a member": {plainEager, old(sarama.V2_2_0_0), sarama.V2_2_0_0},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "Version", mustApply(t, c.in, c.base).Version, c.want)
			expect(t, "Version of a member", mustApplyMember(t, c.in, c.base).Version, c.want)
		})
	}
	expect(t, "just enough for a group", mustApply(t, plainEager, old(sarama.V0_10_2_0)).Version, sarama.V0_10_2_0)

	for name, c := range map[string]struct {
		in   config.Input
		v    sarama.KafkaVersion
		need string
	}{
		"cooperative": {plain, sarama.V2_3_0_0, "2.4.0"},
		"static":      {static, sarama.V2_2_0_0, "2.3.0"},
		"any group":   {plainEager, sarama.V0_10_1_0, "0.10.2"},
		"no version":  {plain, sarama.KafkaVersion{}, "2.4.0"},
	} {
		t.Run("too old for "+name, func(t *testing.T) {
			_, err := mustPlan(t, c.in).Apply(old(c.v))
			wantFault(t, err, config.ErrBase, "Version", c.v.String(), c.need)
		})
	}
	_, err := mustPlan(t, plainEager).ApplyMember(old(sarama.V2_1_0_0))
	wantFault(t, err, config.ErrBase, "Version", "2.1.0", "2.2.0")
}

func TestApplyRefusesAnUnsoundBase(t *testing.T) {
	p := mustPlan(t, config.Input{Expected: sec})
	noPassword := sarama.NewConfig()
	noPassword.Net.SASL.Enable, noPassword.Net.SASL.User = true, "alice"
	badID := sarama.NewConfig()
	badID.Consumer.Group.InstanceId = "a b"
	for name, base := range map[string]*sarama.Config{"no password": noPassword, "bad instance id": badID} {
		t.Run(name, func(t *testing.T) {
			cfg, err := p.Apply(base)
			if _, ok := errors.AsType[sarama.ConfigurationError](err); cfg != nil || !ok || !errors.Is(err, config.ErrBase) {
				t.Errorf("got %v, %v", cfg, err)
			}
		})
	}
	if _, err := p.Apply(&sarama.Config{}); !errors.Is(err, config.ErrBase) {
		t.Errorf("an empty base: %v", err)
	}
}

// B09: no secret in any text.
func TestB09NoSecretIsPrinted(t *testing.T) {
	base := secured()
	base.Version = sarama.V2_3_0_0
	_, err := mustPlan(t, config.Input{Expected: sec}).Apply(base)
	text := fmt.Sprint(err, config.Check(base, hr))
	if strings.Contains(text, "geheim") || strings.Contains(text, "alice") {
		t.Errorf("credentials in %q", text)
	}
}
