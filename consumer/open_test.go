package consumer_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// firstError is an ErrorHook that hands on what it hears first.
type firstError chan error

func (f firstError) OnError(err error) {
	select {
	case f <- err:
	default:
	}
}

// rude is a listener that hangs up on everybody, as a broker does that is spoken to without TLS or SASL where it wants them.
func rude(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ends when the listener is closed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// Whatever keeps the member from its coordinator, the first warning says where to look.
func TestAConnectionThatFailsSaysWhereToLook(t *testing.T) {
	var out bytes.Buffer
	heard := make(firstError, 1)
	c := newConsumer(t, func(cfg *consumer.Config) {
		cfg.Brokers, cfg.Hooks = []string{rude(t)}, []any{heard}
		cfg.Logger = slog.New(slog.NewTextHandler(&out, nil))
	})
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }() // ends with ctx
	told := <-heard
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if told == nil {
		t.Error("the hook was told nil")
	}
	first, _, _ := strings.Cut(out.String(), "\n")
	for _, part := range []string{"cannot connect to the group's coordinator: trying again", "brokers=[127.0.0.1:", "check Config.Brokers, and Net.TLS and Net.SASL", "try=1"} {
		if !strings.Contains(first, part) {
			t.Errorf("it does not say %q: %s", part, first)
		}
	}
}

// A broker that hangs up gives no reason; the error names the likeliest one.
func TestABrokerThatHangsUpIsExplained(t *testing.T) {
	for _, tls := range []bool{false, true} {
		heard := make(firstError, 1)
		cfg := sound(t)
		cfg.Brokers, cfg.Hooks = []string{rude(t)}, []any{heard}
		cfg.Sarama = sarama.NewConfig()
		cfg.Sarama.Net.TLS.Enable = tls
		c, err := consumer.New(cfg, nothing)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- c.Run(ctx) }() // ends with ctx
		got := (<-heard).Error()
		stop()
		if err := <-ran; err != nil {
			t.Errorf("Run returned %v", err)
		}
		if !strings.Contains(got, "another security protocol") || !strings.Contains(got, "Net.TLS.Enable is "+map[bool]string{true: "true", false: "false"}[tls]) {
			t.Errorf("TLS %v: %s", tls, got)
		}
	}
}
