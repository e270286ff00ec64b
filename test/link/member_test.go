package link_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
	"github.com/evenkeel-go/evenkeel/internal/link"
)

var shared kafkatest.Shared

func TestMain(m *testing.M) { shared.Run(m) }

// patience is how long a test waits for what has to come.
const patience = 60 * time.Second

// protocols runs a test under eager and cooperative rebalancing.
func protocols(t *testing.T, test func(t *testing.T, s sarama.BalanceStrategy)) {
	t.Helper()
	t.Run("eager", func(t *testing.T) { t.Parallel(); test(t, sarama.NewBalanceStrategySticky()) })
	t.Run("cooperative", func(t *testing.T) { t.Parallel(); test(t, sarama.NewBalanceStrategyCooperativeSticky()) })
}

// options of a member. Zero fields mean what most tests want.
type options struct {
	strategy  sarama.BalanceStrategy
	beat      time.Duration // heartbeat interval: how soon the member hears of a rebalance
	topics    []string
	onMissing func(string, bool)
	change    func(*sarama.Config)
	link      link.Options
}

// member is a sarama.ConsumerGroup over a Link, and records what happens to it.
type member struct {
	t      *testing.T
	link   *link.Link
	group  sarama.ConsumerGroup
	wire   *wire
	conf   *sarama.Config
	name   string
	topics []string
	cancel context.CancelFunc
	done   chan struct{} // Consume has returned for good

	mu       sync.Mutex
	sessions int
	session  sarama.ConsumerGroupSession
	claims   map[int32]bool
	ended    int // claims that ended
	read     int // messages
	errs     []error
}

// newMember joins a group. The test ends it.
func newMember(t *testing.T, b kafkatest.Broker, group string, o options) *member {
	t.Helper()
	m := &member{t: t, wire: newWire(), name: group, topics: o.topics, claims: map[int32]bool{}, done: make(chan struct{})}
	m.conf = configuration(b, m.wire, o)
	o.link.OnMissing = o.onMissing
	if o.link.Short == 0 {
		o.link.Short = 5 * time.Second
	}
	o.link.Logger = slog.New(slog.DiscardHandler)
	var err error
	if m.link, err = link.New(t.Context(), b.Addrs(), group, m.conf, o.link); err != nil {
		t.Fatal(err)
	}
	if m.group, err = sarama.NewConsumerGroupFromClient(group, m.link); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	t.Cleanup(func() { _ = m.stop() })
	// Ends with ctx, once Consume returns.
	go m.consume(ctx)
	return m
}

func configuration(b kafkatest.Broker, w *wire, o options) *sarama.Config {
	conf := b.Config()
	conf.Net.Proxy.Enable, conf.Net.Proxy.Dialer = true, w
	conf.Net.DialTimeout, conf.Net.ReadTimeout, conf.Net.WriteTimeout = 5*time.Second, 10*time.Second, 10*time.Second
	conf.Metadata.Full = false
	conf.Metadata.Retry.Max, conf.Metadata.Retry.Backoff = 20, 250*time.Millisecond
	conf.Metadata.Timeout = 15 * time.Second
	conf.Metadata.RefreshFrequency = time.Second
	conf.Consumer.Offsets.AutoCommit.Enable = false
	conf.Consumer.Offsets.Initial = sarama.OffsetOldest
	conf.Consumer.Group.Session.Timeout = 30 * time.Second
	conf.Consumer.Group.Rebalance.Timeout = 30 * time.Second
	conf.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{o.strategy}
	conf.Consumer.Group.Rebalance.Retry.Max, conf.Consumer.Group.Rebalance.Retry.Backoff = 40, 250*time.Millisecond
	conf.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	if o.beat > 0 {
		conf.Consumer.Group.Heartbeat.Interval = o.beat
	}
	if o.change != nil {
		o.change(conf)
	}
	return conf
}

func (m *member) consume(ctx context.Context) {
	defer close(m.done)
	defer m.link.Bind(ctx)()
	for ctx.Err() == nil {
		if err := m.group.Consume(ctx, m.topics, m); err != nil && ctx.Err() == nil {
			m.fail(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// halt cancels Consume and waits for it.
func (m *member) halt() {
	m.cancel()
	wait(m.t, "Consume", m.done)
}

// stop leaves the group as consumer/ does: Consume, after a second the cut, three seconds to leave, close.
func (m *member) stop() error {
	m.cancel()
	select {
	case <-m.done:
	case <-time.After(time.Second):
		m.link.Cut()
		wait(m.t, "Consume", m.done)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	m.link.Bind(ctx)
	return errors.Join(m.group.Close(), m.link.Close())
}

func (m *member) Setup(s sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions++
	m.session = s
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m *member) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	m.hold(claim.Partition(), true)
	defer m.hold(claim.Partition(), false)
	for {
		select {
		case msg, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			m.got(msg)
		case <-s.Context().Done():
			return nil
		}
	}
}

func (m *member) hold(partition int32, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if held {
		m.claims[partition] = true
		return
	}
	delete(m.claims, partition)
	m.ended++
}

func (m *member) got(*sarama.ConsumerMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read++
}

func (m *member) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errs = append(m.errs, err)
}

// holds counts the partitions held now.
func (m *member) holds() int { return state(m, func() int { return len(m.claims) }) }

func state[T any](m *member, read func() T) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return read()
}

// commit sends an OffsetCommit of our own for a partition of the running session and returns the broker's answer for it.
func (m *member) commit(ctx context.Context, partition int32, offset int64) (sarama.KError, error) {
	s := state(m, func() sarama.ConsumerGroupSession { return m.session })
	req := sarama.NewOffsetCommitRequest(m.conf, m.name)
	req.ConsumerID, req.ConsumerGroupGeneration = s.MemberID(), s.GenerationID()
	req.AddBlockWithLeaderEpoch(m.topics[0], partition, offset, -1, 0, "")
	resp, err := m.link.Commit(ctx, req)
	if err != nil {
		return sarama.ErrUnknown, err
	}
	return resp.Errors[m.topics[0]][partition], nil
}

// members counts who the broker takes for members.
func members(t *testing.T, b kafkatest.Broker, group string) int {
	t.Helper()
	d, err := b.Group(group)
	if err != nil {
		t.Fatal(err)
	}
	return len(d.Members)
}

func topic(t *testing.T, b kafkatest.Broker, partitions int32) string {
	t.Helper()
	name := kafkatest.Name(t)
	if err := b.CreateTopic(name, partitions); err != nil {
		t.Fatal(err)
	}
	return name
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s\n%s", what, stacks())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func wait[T any](t *testing.T, what string, result <-chan T) T {
	t.Helper()
	select {
	case v := <-result:
		return v
	case <-time.After(patience):
		t.Fatalf("hangs: %s\n%s", what, stacks())
		return *new(T)
	}
}

func stacks() []byte {
	all := make([]byte, 4<<20)
	return all[:runtime.Stack(all, true)]
}

// spread is the middle and the longest of some times.
func spread(all []time.Duration) (middle, longest time.Duration) {
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}
