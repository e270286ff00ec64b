package consumer_test

import (
	"context"
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
