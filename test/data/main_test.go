package data_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// shared has the limits that a broker has by default, all doors, and clients that have to authenticate again in every long task.
var shared = kafkatest.Shared{Options: kafkatest.Options{
	Secure: true, ReauthAfter: reauthAfter,
	Properties: map[string]string{"group.min.session.timeout.ms": "6000", "log.cleaner.backoff.ms": "500"},
}}

func TestMain(m *testing.M) {
	sarama.Logger = saramaLogger{&saramaLog}
	kit.Main(m, &shared, programs)
}

// programs are the handlers of members in processes of their own.
var programs = kit.Programs{
	"hold": func(g *kit.Gate) handler.Func { return g.Hold },
	"fail at 2": func(*kit.Gate) handler.Func {
		return func(_ context.Context, t *handler.Task) error {
			if t.Offset == 2 {
				return errors.New("not today")
			}
			return nil
		}
	},
	"do one": func(g *kit.Gate) handler.Func { // and hold the next
		return func(ctx context.Context, t *handler.Task) error {
			if t.Offset == 0 {
				return lasting(ctx, time.Second)
			}
			return g.Hold(ctx, t)
		}
	},
	"a second, weighed": func(*kit.Gate) handler.Func {
		go weigh() // ends with the process
		return second
	},
}

// everywhere is for what the in-process broker does as a real one.
func everywhere() []kit.Place { return []kit.Place{kit.Fake, kit.Kafka(&shared, kafkatest.Newest)} }

// onKafka runs f under both protocols on the real node.
func onKafka(t *testing.T, f func(t *testing.T, s kit.Setting)) {
	t.Helper()
	kit.Each(t, f, kit.Kafka(&shared, kafkatest.Newest))
}

// on runs f under both protocols on a broker that the test has started itself, with options that no other test wants.
func on(t *testing.T, name string, b kafkatest.Broker, f func(t *testing.T, s kit.Setting)) {
	t.Helper()
	for protocol, eager := range map[string]bool{"eager": true, "cooperative": false} {
		t.Run(name+"/"+protocol, func(t *testing.T) {
			t.Parallel()
			f(t, kit.Setting{Broker: b, Eager: eager})
		})
	}
}
