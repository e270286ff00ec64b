package fakegroup

import (
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// state is a classic group's state in Apache Kafka's words.
type state int

const (
	empty state = iota
	preparing
	completing
	stable
)

func (s state) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}[s]
}

// coordinator is the broker's side of one group: Apache Kafka's classic group coordinator. Requests come in as sarama's own
// request types. Its timers are time.AfterFunc; each takes the lock and looks whether it is still meant.
type coordinator struct {
	cluster *Cluster

	mu         sync.Mutex
	state      state
	generation int32
	protocol   string
	leader     string
	members    map[string]*member
	order      []string            // member ids in the order of joining
	static     map[string]string   // group instance id -> member id
	promised   map[string]struct{} // member ids handed out and not used yet (KIP-394)
	unsynced   map[string]struct{} // members of this generation that have not asked for their assignment
	round      int                 // counts rounds: a timer of an older one is void
	initial    bool                // the first round of an empty group waits for its delay
	newcomer   bool                // a member was added during the initial delay
	nextID     int
	offsets    map[topicPartition]committedOffset
	faults     coordinatorFaults
}

// member is what the coordinator knows of a member.
type member struct {
	id, instance string
	session      time.Duration
	rebalance    time.Duration
	protocols    []*sarama.GroupProtocol
	assignment   []byte
	seen         time.Time
	joining      *reply[*sarama.JoinGroupResponse]
	syncing      *reply[*sarama.SyncGroupResponse]
}

// reply is an answer that may come later. Done is closed once value is set.
type reply[T any] struct {
	done  chan struct{}
	value T
}

func newReply[T any]() *reply[T] { return &reply[T]{done: make(chan struct{})} }

func (r *reply[T]) answer(v T) {
	r.value = v
	close(r.done)
}

func newCoordinator(c *Cluster) *coordinator {
	return &coordinator{
		cluster:  c,
		members:  make(map[string]*member),
		static:   make(map[string]string),
		promised: make(map[string]struct{}),
		unsynced: make(map[string]struct{}),
		offsets:  make(map[topicPartition]committedOffset),
	}
}

// findLocked returns the member, or the error that Kafka answers to a request in its name (GroupMetadata.validateMember).
func (c *coordinator) findLocked(id string, instance *string) (*member, sarama.KError) {
	if instance != nil {
		current, ok := c.static[*instance]
		if !ok {
			return nil, sarama.ErrUnknownMemberId
		}
		if current != id {
			return nil, sarama.ErrFencedInstancedId
		}
	}
	if m := c.members[id]; m != nil {
		return m, sarama.ErrNoError
	}
	return nil, sarama.ErrUnknownMemberId
}

// watchLocked expels m once nothing has been heard of it for its session timeout.
func (c *coordinator) watchLocked(m *member) {
	m.seen = time.Now()
	c.checkLater(m, m.session)
}

func (c *coordinator) checkLater(m *member, d time.Duration) {
	time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.checkLocked(m)
	})
}

// checkLocked is the session timer. A member that waits for a join or a sync counts as heard (MemberMetadata.hasSatisfiedHeartbeat).
func (c *coordinator) checkLocked(m *member) {
	if c.members[m.id] != m {
		return
	}
	if m.joining != nil || m.syncing != nil {
		m.seen = time.Now()
	}
	if left := m.session - time.Since(m.seen); left > 0 {
		c.checkLater(m, left)
		return
	}
	c.expelLocked(m)
}

// expelLocked removes m and lets the others rebalance (GroupCoordinator.removeMemberAndUpdateGroup).
func (c *coordinator) expelLocked(m *member) {
	c.removeLocked(m)
	switch c.state {
	case stable, completing:
		c.prepareLocked()
	case preparing:
		c.tryCompleteJoinLocked()
	case empty:
	}
}
