package twin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// claimFunc is a ConsumeClaim.
type claimFunc func(m *member, s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error

// member is a sarama.ConsumerGroup with a handler that notes what it sees.
type member struct {
	sarama.ConsumerGroup
	stage  *stage
	who    string
	claim  claimFunc
	setup  error // what Setup returns
	cancel context.CancelFunc
	done   chan struct{} // closed: the loop of run has ended
	heard  chan struct{} // closed: Errors is drained

	mu      sync.Mutex
	noted   []string
	session sarama.ConsumerGroupSession
}

func (m *member) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noted = append(m.noted, fmt.Sprintf(format, args...))
}

// awaitError waits until an error was heard, and gives up after a while.
func (m *member) awaitError() {
	heard := func(line string) bool { return strings.HasPrefix(line, "error: ") }
	for end := time.Now().Add(10 * time.Second); !slices.ContainsFunc(m.log(), heard) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

func (m *member) log() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.noted)
}

// current is the session of the last Setup.
func (m *member) current() sarama.ConsumerGroupSession {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session
}

func (m *member) owns() int { return count(m.current().Claims()) }

func (m *member) Setup(s sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	m.session = s
	m.mu.Unlock()
	m.note("setup with %d claims in generation %d", count(s.Claims()), s.GenerationID())
	return m.setup
}

func (m *member) Cleanup(s sarama.ConsumerGroupSession) error {
	m.note("cleanup with %d claims, cause %v", count(s.Claims()), context.Cause(s.Context()))
	return nil
}

func (m *member) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	return m.claim(m, s, c)
}

// drain receives until Messages closes.
func drain(_ *member, s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for msg := range c.Messages() {
		s.MarkMessage(msg, "")
	}
	return nil
}

// cast makes a member that does nothing yet. A strategy that is a *spy notes into it.
func (s *stage) cast(who string, cfg *sarama.Config, claim claimFunc) *member {
	m := &member{stage: s, who: who, claim: claim, done: make(chan struct{}), heard: make(chan struct{})}
	for _, strategy := range cfg.Consumer.Group.Rebalance.GroupStrategies {
		if spy, ok := strategy.(*spy); ok {
			spy.member = m
		}
	}
	m.ConsumerGroup = must(s.Group(s.name, cfg))
	s.members = append(s.members, m)
	// Ends when Close closes Errors; leave waits for it.
	go func() {
		defer close(m.heard)
		for err := range m.Errors() {
			m.note("error: %v", err)
		}
	}()
	return m
}

// enter makes a member and lets it consume until it leaves.
func (s *stage) enter(who string, cfg *sarama.Config, claim claimFunc) *member {
	m := s.cast(who, cfg, claim)
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	// Ends when leave or crash cancels.
	go func() {
		defer close(m.done)
		for ctx.Err() == nil {
			m.consume(ctx)
		}
	}()
	return m
}

// consume calls Consume once.
func (m *member) consume(ctx context.Context) {
	err := m.Consume(ctx, []string{m.stage.name}, m)
	m.note("consume: %v", err)
	if err != nil {
		time.Sleep(300 * time.Millisecond)
	}
}

// crash stops without leaving the group.
func (m *member) crash() {
	m.cancel()
	<-m.done
}

// leave stops in order.
func (m *member) leave() {
	m.crash()
	m.close()
}

// end stops members together: none leaves before all have stopped, so that no session hears of another's leave.
func end(members ...*member) {
	for _, m := range members {
		m.crash()
	}
	for _, m := range members {
		m.close()
	}
}

func (m *member) close() {
	if err := m.Close(); err != nil {
		m.note("error: %v", err)
	}
	<-m.heard
}
