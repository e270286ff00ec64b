package fakegroup

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/IBM/sarama"
)

// Group is one member: a [sarama.ConsumerGroup] on a [Cluster]. It is safe for concurrent use; Consume runs once at a time.
type Group struct {
	cluster  *Cluster
	coord    *coordinator
	cfg      *sarama.Config
	protocol sarama.RebalanceProtocol
	instance *string
	network  *network
	closed   chan struct{}
	once     sync.Once

	memberID atomic.Pointer[string]

	consuming semaphore // held for the whole of Consume (consumer_group.go:231) and while leaving
	userData  []byte    // guarded by consuming

	mu      sync.Mutex
	errs    chan error
	done    bool // errs is closed
	paused  map[topicPartition]struct{}
	running map[topicPartition]*claim
}

var _ sarama.ConsumerGroup = (*Group)(nil)

// NewGroup makes a member of the named group. The configuration is validated as sarama does, and so is the choice of strategies
// (consumer_group.go:152-186). The member joins at the first Consume.
func NewGroup(c *Cluster, group string, cfg *sarama.Config) (*Group, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	protocol, err := selectProtocol(strategies(cfg))
	if err != nil {
		return nil, err
	}
	g := &Group{
		cluster: c, coord: c.coordinator(group), cfg: cfg, protocol: protocol, network: newNetwork(cfg),
		closed: make(chan struct{}), consuming: newSemaphore(), userData: cfg.Consumer.Group.Member.UserData,
		errs: make(chan error, cfg.ChannelBufferSize), paused: make(map[topicPartition]struct{}), running: make(map[topicPartition]*claim),
	}
	if id := cfg.Consumer.Group.InstanceId; id != "" && cfg.Version.IsAtLeast(sarama.V2_3_0_0) {
		g.instance = &id
	}
	g.setMemberID("")
	return g, nil
}

// MemberID returns the id that the coordinator gave, "" before the first join and after leaving.
func (g *Group) MemberID() string { return *g.memberID.Load() }

func (g *Group) setMemberID(id string) { g.memberID.Store(&id) }

// Errors implements sarama.ConsumerGroup. The channel has room for ChannelBufferSize errors; more are dropped (consumer_group.go:857-861).
func (g *Group) Errors() <-chan error { return g.errs }

// report sends an error to Errors when Consumer.Return.Errors is set, and never waits. After Close it is dropped.
func (g *Group) report(err error, tp topicPartition) {
	var known *sarama.ConsumerError
	if !errors.As(err, &known) && tp.topic != "" {
		err = &sarama.ConsumerError{Topic: tp.topic, Partition: tp.partition, Err: err}
	}
	if !g.cfg.Consumer.Return.Errors {
		sarama.Logger.Println(err)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if isClosed(g.closed) || g.done {
		return
	}
	select {
	case g.errs <- err:
	default:
	}
}

// Close implements sarama.ConsumerGroup: it waits until Consume has returned, leaves the group unless the member is static
// (consumer_group.go:787-791), and closes Errors. Errors that nobody read are dropped but for the last, which it returns.
func (g *Group) Close() (err error) {
	g.once.Do(func() {
		close(g.closed)
		err = g.leave()
		g.mu.Lock()
		g.done = true
		close(g.errs)
		g.mu.Unlock()
		for e := range g.errs {
			err = e
		}
	})
	return err
}

func (g *Group) leave() error {
	g.consuming.lock()
	defer g.consuming.unlock()
	id := g.MemberID()
	if id == "" || g.network.dead() {
		return nil
	}
	g.setMemberID("")
	if g.instance != nil {
		return nil
	}
	answer, err := call(g.network, func() sarama.KError { return g.coord.leave(id) })
	switch {
	case err != nil:
		return err
	case answer == sarama.ErrNoError, answer == sarama.ErrUnknownMemberId, answer == sarama.ErrRebalanceInProgress:
		return nil
	}
	return answer
}

// isClosed says whether a channel that is only ever closed is.
func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Consume implements sarama.ConsumerGroup (consumer_group.go:223-293).
func (g *Group) Consume(ctx context.Context, topics []string, h sarama.ConsumerGroupHandler) error {
	if isClosed(g.closed) {
		return sarama.ErrClosedConsumerGroup
	}
	g.consuming.lock()
	defer g.consuming.unlock()
	switch {
	case isClosed(g.closed), g.network.dead():
		return sarama.ErrClosedConsumerGroup
	case len(topics) == 0:
		return errors.New("no topics provided")
	}
	if err := g.cluster.known(topics...); err != nil {
		return err
	}
	s, err := g.open(ctx, topics, h)
	if err != nil {
		return err
	}
	if g.protocol == sarama.RebalanceProtocolCooperative {
		return s.runCooperative(ctx, topics)
	}
	select {
	case <-g.closed:
	case <-s.ctx.Done():
	}
	return s.release(true)
}
