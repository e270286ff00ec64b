package link_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// G10: with no broker that can be reached, however many there are, an idle member stops within 6 s. A connection that no cut ends would
// be waited for.
func TestStopWithSeveralNodesAndNobodyReachable(t *testing.T) {
	t.Parallel()
	const most, slack = 6 * time.Second, time.Second
	b, w := kafkatest.Fake(t, kfake.NumBrokers(3)), newWire()
	name := topic(t, b, 6)
	conf := b.Config()
	conf.Net.Proxy.Enable, conf.Net.Proxy.Dialer = true, w
	plan, err := config.Input{Expected: 10 * time.Minute, StopGrace: config.NoGrace}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	c, err := consumer.New(consumer.Config{
		Brokers: b.Addrs(), Group: name, Topics: []string{name}, Plan: plan, Sarama: conf, Logger: slog.New(slog.DiscardHandler),
	}, handler.Func(func(context.Context, *handler.Task) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }() // ends with stop
	eventually(t, "it holds all", func() bool { return len(c.Status().Claims) == 6 })
	fetches := w.count(fetch)
	eventually(t, "every leader is asked", func() bool { return w.count(fetch) >= fetches+6 })
	w.sever()
	begin := time.Now()
	stop()
	if err := wait(t, "Run", done); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if took := time.Since(begin); took > most+slack {
		t.Errorf("the stop took %v, want at most %v", took, most)
	}
}
