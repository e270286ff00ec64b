package consumer_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

func newConsumer(t *testing.T, change func(*consumer.Config)) *consumer.Consumer {
	t.Helper()
	cfg := sound(t)
	if change != nil {
		change(&cfg)
	}
	c, err := consumer.New(cfg, nothing)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// B46: the four ends of a session are told apart.
func TestEndsOfSessionsAreToldApart(t *testing.T) {
	for cause, want := range map[error]consumer.EndKind{
		sarama.ErrRebalanceInProgress:                            consumer.EndRebalance,
		sarama.ErrSessionPartitionCountChanged:                   consumer.EndRebalance,
		fmt.Errorf("topics: %w", handler.ErrRevoked):             consumer.EndRebalance,
		sarama.ErrUnknownMemberId:                                consumer.EndLost,
		sarama.ErrIllegalGeneration:                              consumer.EndLost,
		sarama.ErrSessionHeartbeatFailed:                         consumer.EndLost,
		sarama.ErrRebalanceTimedOut:                              consumer.EndLost,
		&consumer.LeaseError{Err: errors.New("timeout")}:         consumer.EndLost,
		&consumer.LeaseError{Err: sarama.ErrRebalanceInProgress}: consumer.EndLost,
		handler.ErrDraining:                                      consumer.EndStop,
		context.Canceled:                                         consumer.EndStop,
		sarama.ErrSessionConsumeClaimExited:                      consumer.EndClaim,
	} {
		if got := consumer.KindOf(cause); got != want {
			t.Errorf("%v: %s, want %s", cause, got, want)
		}
	}
}

// G12: a heartbeat may hang in a look for the coordinator, or in the hook that hears of it.
func TestTheLeaseEndsWhileAHeartbeatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, begin := newConsumer(t, nil), time.Now()
		if cause := c.Guard(); !errors.Is(cause, handler.ErrLost) {
			t.Errorf("cancelled with %v, want handler.ErrLost", cause)
		}
		if took := time.Since(begin); took != plan(t).Lease {
			t.Errorf("cancelled after %v, want %v", took, plan(t).Lease)
		}
	})
}

// B03, B32: what waiting does not mend says what to change.
func TestFatalErrorsSayWhatToDo(t *testing.T) {
	c := newConsumer(t, nil)
	for err, says := range map[error]string{
		sarama.ErrInvalidSessionTimeout:       "timeout is 5m (",
		sarama.ErrSASLAuthenticationFailed:    "password",
		sarama.ErrUnsupportedSASLMechanism:    "mechanism",
		sarama.ErrInvalidTopic:                "Config.Topics",
		sarama.ErrInvalidGroupId:              "Config.Group",
		sarama.ErrClosedClient:                "context",
		sarama.ErrInconsistentGroupProtocol:   "(evenkeel): move the group in two rolling deployments, first with the old strategy in Config.OfferAlso",
		sarama.ErrFencedInstancedId:           "instance id",
		sarama.ErrGroupAuthorizationFailed:    "ACL",
		sarama.ErrTopicAuthorizationFailed:    "ACL",
		sarama.ErrUnsupportedVersion:          "Version",
		sarama.ErrClosedConsumerGroup:         "context",
		sarama.ConfigurationError("nonsense"): "Sarama",
	} {
		fatal := c.Explain(fmt.Errorf("join: %w", err))
		var f *consumer.FatalError
		if !errors.As(fatal, &f) || !errors.Is(fatal, err) || !strings.Contains(f.Remedy, says) {
			t.Errorf("%v: %v, want a remedy with %q", err, fatal, says)
		}
	}
	own := newConsumer(t, func(cfg *consumer.Config) {
		cfg.Sarama = sarama.NewConfig()
		cfg.Sarama.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	})
	if err := own.Explain(sarama.ErrInconsistentGroupProtocol); !strings.Contains(err.Error(), "(cooperative-sticky)") || !strings.Contains(err.Error(), "GroupStrategies") {
		t.Errorf("with strategies of its own: %v", err)
	}
	for _, passing := range []error{sarama.ErrOutOfBrokers, sarama.ErrNotCoordinatorForConsumer, sarama.ErrUnknownMemberId, errors.New("i/o timeout")} {
		if got := c.Explain(passing); got != nil {
			t.Errorf("%v is fatal: %v", passing, got)
		}
	}
}

// B09: a member that was never part of the group reports what is refused after a few tries; one that was waits.
func TestARefusalEndsOnlyAFirstStart(t *testing.T) {
	for _, refusal := range []error{
		sarama.ErrSASLAuthenticationFailed, sarama.ErrGroupAuthorizationFailed, sarama.ErrTopicAuthorizationFailed, &tls.CertificateVerificationError{Err: errors.New("unknown authority")},
	} {
		refused := fmt.Errorf("dial: %w", refusal)
		c, tries := newConsumer(t, nil), &consumer.Tries{}
		for i := range 2 {
			if err := c.Judge(tries, refused); err != nil {
				t.Errorf("try %d: %v", i, err)
			}
		}
		if err := c.Judge(tries, refused); !errors.Is(err, refusal) {
			t.Errorf("the third %v is not reported", refusal)
		}
		c.SetJoined()
		for range 10 {
			if err := c.Judge(tries, refused); err != nil {
				t.Errorf("a member gave up: %v", err)
			}
		}
	}
}

func TestPausesGrowToTenSeconds(t *testing.T) {
	tries := &consumer.Tries{}
	for i := range 20 {
		most := min(250*time.Millisecond<<min(i, 8), 10*time.Second)
		if d := tries.Next(); d > most || d < most/2 {
			t.Errorf("pause %d is %v, want at most %v and at least half of it", i, d, most)
		}
	}
}

// B33, B45: a kind of error is written at most twice a minute, and the next line says how many were kept back.
func TestRepeatedErrorsAreKeptBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		warn := consumer.Warner(slog.New(slog.NewTextHandler(&out, nil)))
		for range 600 {
			warn("a")
			time.Sleep(100 * time.Millisecond)
		}
		warn("b")
		if n := strings.Count(out.String(), "\n"); n != 3 {
			t.Errorf("%d lines in a minute, want two of one kind and one of the other:\n%s", n, &out)
		}
		if !strings.Contains(out.String(), "repeated=299") {
			t.Errorf("repetitions are not counted:\n%s", &out)
		}
	})
}

// What is remembered of the kinds of errors has a bound: their texts come from brokers. Beyond it all is told anew.
func TestKindsOfErrorsAreForgottenWhenThereAreManyOfThem(t *testing.T) {
	var out bytes.Buffer
	warn := consumer.Warner(slog.New(slog.NewTextHandler(&out, nil)))
	warn("first")
	const many = 1000
	for i := range many {
		warn(fmt.Sprint("kind ", i))
	}
	warn("first")
	if n := strings.Count(out.String(), "\n"); n != many+2 {
		t.Errorf("%d lines for %d kinds and the first one again", n, many+1)
	}
}

// rebalances hears them.
type rebalances struct{ list []consumer.Rebalance }

func (r *rebalances) OnRebalance(one consumer.Rebalance) { r.list = append(r.list, one) }

// B46: one entry a rebalance, with what was gained and lost.
func TestARebalanceTellsWhatWasGainedAndLost(t *testing.T) {
	var out bytes.Buffer
	heard := &rebalances{}
	c := newConsumer(t, func(cfg *consumer.Config) {
		cfg.Logger, cfg.Hooks = slog.New(slog.NewTextHandler(&out, nil)), []any{heard}
	})
	c.Hear(map[string][]int32{"t": {2, 0, 1}}, 1)
	c.Hear(map[string][]int32{"t": {1, 3}, "u": {0}}, 2)
	c.Hear(map[string][]int32{}, 3)
	if n := strings.Count(out.String(), "level=INFO"); n != 3 {
		t.Errorf("%d entries, want 3:\n%s", n, &out)
	}
	second := heard.list[1]
	if second.Gained.String() != "t[3] u[0]" || second.Lost.String() != "t[0 2]" || second.Assigned.String() != "t[1 3] u[0]" {
		t.Errorf("%+v", second)
	}
	if third := heard.list[2]; third.Gained.String() != "none" || third.Lost.String() != "t[1 3] u[0]" {
		t.Errorf("%+v", third)
	}
	if s := c.Status(); s.Rebalances != 3 || s.Generation != 3 {
		t.Errorf("status %+v", s)
	}
}

// Who was told of an assignment may change what was told.
func TestAssignmentsAreNotShared(t *testing.T) {
	c := newConsumer(t, func(cfg *consumer.Config) { cfg.Hooks = []any{spoiler{}} })
	c.Hear(map[string][]int32{"t": {0, 1}}, 1)
	c.Status().Assigned["t"][0] = 7
	if got := c.Status().Assigned.String(); got != "t[0 1]" {
		t.Errorf("assigned %s, want t[0 1]", got)
	}
}

type spoiler struct{}

func (spoiler) OnRebalance(r consumer.Rebalance) { r.Assigned["t"][1] = 8 }
