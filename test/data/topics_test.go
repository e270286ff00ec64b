package data_test

import (
	"context"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/test/kit"
)

// ledger counts the messages that were handled, by topic. The history knows one topic only.
type ledger struct {
	mu   sync.Mutex
	done map[string]int
}

func newLedger() *ledger { return &ledger{done: map[string]int{}} }

// around counts the successes of work.
func (l *ledger) around(work handler.Func) handler.Func {
	return func(ctx context.Context, t *handler.Task) error {
		if err := work(ctx, t); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.done[t.Topic]++
		return nil
	}
}

func (l *ledger) count(topic string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done[topic]
}

// also makes a member consume another topic too.
func also(topic string) func(*consumer.Config) {
	return func(c *consumer.Config) { c.Topics = append(c.Topics, topic) }
}

// create makes a topic with n messages.
func create(t *testing.T, g *kit.Group, topic string, n int) {
	t.Helper()
	g.Note("%s is created", topic)
	if err := g.Broker.CreateTopic(topic, 1); err != nil {
		t.Fatal(err)
	}
	if err := g.Broker.Produce(topic, 0, make([]string, n)...); err != nil {
		t.Fatal(err)
	}
}

// group makes a group whose members look for topics every two seconds, and not every minute.
func group(t *testing.T, s kit.Setting) *kit.Group {
	t.Helper()
	g := s.Group(t, 1)
	g.Input.MetadataRefresh = 2 * time.Second
	return g
}

// noticed is how long a change of the topics may take to be acted upon: the next metadata refresh and a rebalance.
func noticed(g *kit.Group) time.Duration {
	p := g.Plan()
	return p.MetadataRefresh + p.RebalanceTimeout + kit.Slack
}

// B33.
func TestB33AMissingTopicIsNamedAndConsumedOnceItIsThere(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s)
		late, seen := g.Topic+"-late", newLedger()
		g.ProduceTo(0, 2)
		begin := time.Now()
		m := g.Start("a", seen.around(instant), also(late))
		g.Until("what is there is consumed", func() bool { return seen.count(g.Topic) == 2 })
		g.WantWithin("what is there is consumed", begin, time.Now(), 10*time.Second)
		for _, k := range []kit.Kind{kit.Troubled, kit.Logged} {
			g.WantWithin("what is missing is named", begin, g.UntilSeen(1, k, kit.Saying(late))[0].At, 10*time.Second)
		}
		create(t, g, late, 3)
		g.UntilWithin(noticed(g), "what was missing is consumed", func() bool { return seen.count(late) == 3 })
		g.ProduceTo(0, 1)
		g.Until("the other one still is", func() bool { return seen.count(g.Topic) == 3 })
		m.Stop()
	}, everywhere()...)
}

// away is how a topic goes and comes back.
type away struct {
	until   func(*kit.Group, *kit.Member, string) // it comes back
	refresh time.Duration                         // of the metadata: 0 is a minute
	missed  time.Duration                         // at most, from there until it is consumed
}

// B33. The topic comes back before anybody has noticed that it had gone, before the group has (after a moment, or
// a while), or after. Nothing of it is passed over then, although it has messages at the offsets that were read before.
func TestB33ATopicGoesInMidTaskAndComesBack(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]away{
		"at once": {until: func(*kit.Group, *kit.Member, string) {}, refresh: 2 * time.Second, missed: 10 * time.Second}, // no fetch may have failed
		"soon":    {until: untilNamed, missed: 10 * time.Second},
		"unheard": {until: untilRepeated, missed: 10 * time.Second},
		"late":    {until: untilGivenUp, refresh: 2 * time.Second, missed: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			kit.Each(t, func(t *testing.T, s kit.Setting) {
				g := s.Group(t, 1)
				g.Input.MetadataRefresh = a.refresh
				goAndComeBack(t, g, a)
			}, everywhere()...)
		})
	}
}

func goAndComeBack(t *testing.T, g *kit.Group, a away) {
	t.Helper()
	other, seen, gate := g.Topic+"-other", newLedger(), kit.NewGate()
	create(t, g, other, 3)
	g.ProduceTo(0, 2)
	m := g.Start("a", seen.around(func(ctx context.Context, t *handler.Task) error {
		if t.Topic == other {
			return nil
		}
		return gate.Hold(ctx, t)
	}), also(other))
	g.Until("one is done and the other works", func() bool { return seen.count(other) == 3 && m.Status().Running == 1 })

	gone := g.Note("%s is deleted", other)
	if err := g.Broker.DeleteTopic(other); err != nil {
		t.Fatal(err)
	}
	a.until(g, m, other)
	g.WantAtMost(few, kit.Logged, kit.After(gone), loud)
	g.WantAtMost(few, kit.Troubled, kit.After(gone))
	create(t, g, other, 5)
	// More than that where some were consumed before it was known that the topic is another one.
	g.UntilWithin(a.missed, "what has come back is consumed", func() bool { return seen.count(other) >= 3+5 })
	gate.Open()
	g.Until("nothing of the other is lost", func() bool { return seen.count(g.Topic) == 2 && g.Committed(0) == 2 })
	m.Stop()
}

// few is how many entries above info, and errors for the hook, are a few. The topic is away for less than a minute.
const few = 5

func loud(e kit.Event) bool {
	return kit.Saying("WARN")(e) || kit.Saying("ERROR")(e)
}

func untilNamed(g *kit.Group, _ *kit.Member, topic string) {
	g.UntilSeen(1, kit.Logged, kit.Saying(topic), loud)
	g.UntilSeen(1, kit.Troubled, kit.Saying(topic))
}

// untilRepeated waits for as long as it takes sarama to complain many times.
func untilRepeated(g *kit.Group, m *kit.Member, topic string) {
	untilNamed(g, m, topic)
	time.Sleep(15 * time.Second)
}

func untilGivenUp(g *kit.Group, m *kit.Member, topic string) {
	untilNamed(g, m, topic)
	g.UntilWithin(noticed(g), "the topic is given up", func() bool { return len(m.Status().Assigned[topic]) == 0 })
}

// Topics that match a pattern come and go, and one that was there is consumed on.
func TestTopicsOfAPatternComeAndGo(t *testing.T) {
	kit.Each(t, func(t *testing.T, s kit.Setting) {
		g := group(t, s)
		first, second, seen := g.Topic+"-first", g.Topic+"-second", newLedger()
		create(t, g, first, 1)
		m := g.Start("a", seen.around(instant), func(c *consumer.Config) {
			c.Topics, c.TopicPattern = nil, regexp.MustCompile("^"+regexp.QuoteMeta(g.Topic)+"-")
		})
		g.Until("the first is consumed", func() bool { return seen.count(first) == 1 })
		create(t, g, second, 1)
		g.UntilWithin(noticed(g), "the second is consumed", func() bool { return seen.count(second) == 1 })
		if err := g.Broker.DeleteTopic(first); err != nil {
			t.Fatal(err)
		}
		if err := g.Broker.Produce(second, 0, "x"); err != nil {
			t.Fatal(err)
		}
		g.Until("the second is consumed on", func() bool { return seen.count(second) == 2 })
		g.UntilWithin(noticed(g), "the first is given up", func() bool {
			a := m.Status().Assigned
			return len(a[first]) == 0 && len(a[second]) == 1
		})
		if n := seen.count(g.Topic); n != 0 {
			g.Errorf("a topic that does not match was consumed")
		}
		m.Stop()
	}, everywhere()...)
}
