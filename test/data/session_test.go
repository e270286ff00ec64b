package data_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// What a broker accepts by default.
const (
	shortestSession = 6 * time.Second
	longestSession  = 30 * time.Minute
)

// B03. That the member was let in at the first try says that the broker has accepted the session timeout.
func TestB03EveryDurationJoinsAtTheFirstTry(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]time.Duration{
		"100 ms": 100 * time.Millisecond, "10 s": 10 * time.Second, "10 min": 10 * time.Minute, "2 h": 2 * time.Hour, "12 h": 12 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			onKafka(t, func(t *testing.T, s kit.Setting) {
				g := s.Group(t, 1)
				g.Input = config.Input{Expected: d, Eager: s.Eager}
				if session := g.Plan().SessionTimeout; session < shortestSession || session > longestSession {
					t.Errorf("the session timeout is %v, want %v to %v", session, shortestSession, longestSession)
				}
				wantLetIn(g)
			})
		})
	}
}

// wantLetIn wants a member to join at the first try, to work and to leave.
func wantLetIn(g *kit.Group, change ...func(*consumer.Config)) {
	g.ProduceTo(0, 1)
	m := g.Start("a", instant, change...)
	g.UntilAllHandled()
	g.WantAtMost(1, kit.Assigned)
	g.WantAtMost(0, kit.Ended)
	g.WantAtMost(0, kit.Troubled)
	m.Stop()
}

func letIn(g *kit.Group) { wantLetIn(g) }

// partially is what users of large clusters set: metadata of the topics in use only.
func partially(c *consumer.Config) { c.Sarama.Metadata.Full = false }

// strictSession is the longest session of a broker that accepts shorter ones than the plans for long tasks have.
const strictSession = time.Minute

// B03. A limit is told by the user, or read from the broker: the plan alone knows nothing of it. A user who tells one that the broker
// does not have is believed, so the broker refuses.
func TestB03LimitsOfTheBroker(t *testing.T) {
	t.Parallel()
	strict := kafkatest.Kafka(t, kafkatest.Options{Properties: map[string]string{
		"group.min.session.timeout.ms": "6000", "group.max.session.timeout.ms": strconv.FormatInt(strictSession.Milliseconds(), 10),
	}})
	for name, test := range map[string]struct {
		in   config.Input
		want func(g *kit.Group)
	}{
		"told":    {config.Input{Broker: config.BrokerLimits{MaxSessionTimeout: strictSession}}, letIn},
		"read":    {config.Input{}, letIn},
		"partial": {config.Input{}, func(g *kit.Group) { wantLetIn(g, partially) }},
		"wrong":   {config.Input{CrashDetection: 9 * time.Minute, Broker: config.BrokerLimits{MaxSessionTimeout: 10 * time.Minute}}, wantRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on(t, "kafka", strict, func(t *testing.T, s kit.Setting) {
				g := s.Group(t, 1)
				g.Input = test.in
				g.Input.Expected, g.Input.Eager = 2*time.Hour, s.Eager
				if session := g.Plan().SessionTimeout; name != "told" && session <= strictSession {
					t.Errorf("the plan has a session timeout of %v: there is nothing to read or to refuse", session)
				}
				test.want(g)
			})
		})
	}
}

func wantRefused(g *kit.Group) {
	begin := time.Now()
	m := g.Start("a", instant)
	stopped := g.UntilSeen(1, kit.Stopped)[0]
	g.WantWithin("Run returns", begin, stopped.At, 5*time.Second)
	var fatal *consumer.FatalError
	err := m.Err()
	if !errors.Is(err, sarama.ErrInvalidSessionTimeout) || !errors.As(err, &fatal) {
		g.Fatalf("Run returned %v, want a FatalError of INVALID_SESSION_TIMEOUT", err)
	}
	for _, part := range []string{"session timeout", "9m", "group.max.session.timeout.ms"} {
		if !strings.Contains(err.Error(), part) {
			g.Errorf("%q lacks %q", err, part)
		}
	}
}
