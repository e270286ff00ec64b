package consumer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// hopeless is a group that cannot be joined.
type hopeless struct {
	sarama.ConsumerGroup
	fails func(try int) error
	tries int
}

func (g *hopeless) Errors() <-chan error { return nil }

func (g *hopeless) Consume(context.Context, []string, sarama.ConsumerGroupHandler) error {
	g.tries++
	return g.fails(g.tries)
}

// runHopeless runs a consumer over it for a while, and returns what it logs and how many errors the hook hears.
func runHopeless(t *testing.T, g *hopeless, level slog.Level, d time.Duration) (log string, heard int) {
	t.Helper()
	var out bytes.Buffer
	cfg := sound(t)
	cfg.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))
	cfg.Brokers, cfg.ConsumerGroup = nil, func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) { return g, nil }
	cfg.Hooks = []any{hear(func(error) { heard++ })}
	c, err := consumer.New(cfg, nothing)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
	return out.String(), heard
}

// hear is an ErrorHook.
type hear func(error)

func (f hear) OnError(err error) { f(err) }

// A failure that repeats is a warning at most every half minute, which counts those in between. Hooks hear of each try.
func TestRepeatedTriesAreWarnedOfOnceInHalfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("no coordinator")
		g := &hopeless{fails: func(int) error { return away }}
		log, heard := runHopeless(t, g, slog.LevelInfo, 5*time.Minute)
		warnings, counted := strings.Count(log, "trying again"), 0
		for line := range strings.Lines(log) {
			var n int
			if _, after, ok := strings.Cut(line, "repeated="); ok {
				if _, err := fmt.Sscan(after, &n); err != nil {
					t.Fatal(err)
				}
			}
			counted += n
		}
		if warnings < 5 || warnings > 10 {
			t.Errorf("%d warnings in five minutes, want one each half minute:\n%s", warnings, log)
		}
		if heard != g.tries || g.tries < 30 {
			t.Errorf("%d tries, and hooks heard of %d", g.tries, heard)
		}
		if told := warnings + counted; told > g.tries || told < g.tries-8 { // those since the last warning are not counted yet
			t.Errorf("%d warnings and %d repetitions, want %d tries in all:\n%s", warnings, counted, g.tries, log)
		}
	})
}

// One outage is one failure, whatever port each try comes from, and whichever of the brokers is asked first.
func TestTheSameOutageIsOneKindOfFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := func(port int) error {
			return &net.OpError{
				Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded,
				Source: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2), Port: 9092},
			}
		}
		g := &hopeless{fails: func(try int) error {
			errs := []error{fmt.Errorf("broker a: %w", refused(30000+try)), fmt.Errorf("broker b: %w", io.EOF)}
			if try%2 == 0 {
				slices.Reverse(errs)
			}
			return fmt.Errorf("look for the coordinator, try %d: %w", try, sarama.Wrap(sarama.ErrOutOfBrokers, errs...))
		}}
		log, _ := runHopeless(t, g, slog.LevelInfo, 5*time.Minute)
		if n := strings.Count(log, "trying again"); n < 5 || n > 10 {
			t.Errorf("%d warnings of %d tries in five minutes, want one each half minute:\n%s", n, g.tries, log)
		}
	})
}

// So is the failure of a topic, whichever of its partitions tells of it.
func TestAFailureOfATopicIsOneKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ctx, stop := context.WithCancel(context.Background())
		g := &scripted{errs: make(chan error)}
		g.consume = func(run context.Context) error {
			for i := range 100 {
				late := fmt.Errorf("read tcp 127.0.0.1:%d->127.0.0.2:9092: i/o timeout", 30000+i)
				g.errs <- &sarama.ConsumerError{Topic: fmt.Sprint("t", i%2), Partition: int32(i), Err: late}
			}
			synctest.Wait()
			stop()
			return context.Cause(run)
		}
		c := newConsumer(t, func(cfg *consumer.Config) {
			cfg.Brokers, cfg.Logger = nil, slog.New(slog.NewTextHandler(&out, nil))
			cfg.ConsumerGroup = func([]sarama.BalanceStrategy) (sarama.ConsumerGroup, error) { return g, nil }
		})
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), "the group reports an error"); n != 2 {
			t.Errorf("%d warnings, want one for each of two topics:\n%s", n, &out)
		}
	})
}

// Another error is told at once.
func TestAnotherFailureIsWarnedOfAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &hopeless{fails: func(try int) error { return fmt.Errorf("failure %d", (try+1)/2) }}
		log, _ := runHopeless(t, g, slog.LevelInfo, 15*time.Second)
		for n := range g.tries / 2 {
			if c := strings.Count(log, fmt.Sprintf("failure %d\"", n+1)); c != 1 {
				t.Errorf("failure %d was warned of %d times:\n%s", n+1, c, log)
			}
		}
	})
}

// Who asks for details gets all of them.
func TestRepeatedTriesAreAllThereAtLevelDebug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &hopeless{fails: func(int) error { return errors.New("no coordinator") }}
		log, _ := runHopeless(t, g, slog.LevelDebug, time.Minute)
		if n := strings.Count(log, "retry_in="); n != g.tries {
			t.Errorf("%d entries for %d tries:\n%s", n, g.tries, log)
		}
	})
}
