package fakegroup_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup"
)

// owners checks that no two members consume a partition at once, and counts what was handled.
type owners struct {
	t       *testing.T
	mu      sync.Mutex
	holder  map[int32]*recorder
	handled map[int32]map[int64]int
}

func newOwners(t *testing.T) *owners {
	return &owners{t: t, holder: make(map[int32]*recorder), handled: make(map[int32]map[int64]int)}
}

func (o *owners) recorder() *recorder {
	h := &recorder{}
	h.claim = func(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
		o.enter(c.Partition(), h)
		defer o.leave(c.Partition(), h)
		for m := range c.Messages() {
			o.handle(m)
			s.MarkMessage(m, "")
			if s.Context().Err() != nil {
				return nil
			}
		}
		return nil
	}
	return h
}

func (o *owners) enter(p int32, h *recorder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.holder[p] != nil {
		o.t.Errorf("partition %d is claimed by two members", p)
	}
	o.holder[p] = h
}

func (o *owners) leave(p int32, h *recorder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.holder[p] == h {
		o.holder[p] = nil
	}
}

func (o *owners) handle(m *sarama.ConsumerMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.handled[m.Partition] == nil {
		o.handled[m.Partition] = make(map[int64]int)
	}
	o.handled[m.Partition][m.Offset]++
}

// wantAll checks that every message was handled.
func (o *owners) wantAll(partitions int32, n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p := range partitions {
		for i := range n {
			if o.handled[p][i] == 0 {
				o.t.Errorf("message %d of partition %d was lost", i, p)
			}
		}
	}
}

// Whatever members come, go, crash and are expelled: partitions have one owner, nothing is lost, and the group settles.
func TestRandomChangesKeepTheGroupSound(t *testing.T) {
	for seed := range uint64(10) {
		eachProtocol(t, func(t *testing.T, config func(...func(*sarama.Config)) *sarama.Config) {
			const partitions, messages = 7, 60
			c := newCluster(partitions)
			o := newOwners(t)
			r := rand.New(rand.NewPCG(seed, 1))
			live := []*member{join(t, c, config(), o.recorder())}
			for i := range messages {
				for p := range int32(partitions) {
					c.Produce(topic, p, nil, nil)
				}
				live = change(t, c, r, live, func() *member { return join(t, c, config(), o.recorder()) })
				pass(time.Duration(r.IntN(8000)) * time.Millisecond)
				if i%20 == 19 {
					pass(3 * time.Minute)
				}
			}
			pass(5 * time.Minute)
			o.wantAll(partitions, messages)
			wantSettled(t, c, live, partitions, messages)
		})
	}
}

// change does one thing to the group.
func change(t *testing.T, c *fakegroup.Cluster, r *rand.Rand, live []*member, add func() *member) []*member {
	t.Helper()
	i := r.IntN(len(live))
	switch what := r.IntN(8); {
	case what < 2 && len(live) < 5:
		return append(live, add())
	case what == 2 && len(live) > 1:
		live[i].stop()
		return append(live[:i], live[i+1:]...)
	case what == 3 && len(live) > 1:
		live[i].Kill()
		<-live[i].done
		return append(live[:i], live[i+1:]...)
	case what == 4:
		c.Rebalance(group)
	case what == 5:
		live[i].HangUp()
	}
	return live
}

func wantSettled(t *testing.T, c *fakegroup.Cluster, live []*member, partitions int, messages int64) {
	t.Helper()
	claims := 0
	for _, m := range live {
		claims += len(m.h.current().Claims()[topic])
	}
	if state, _ := c.GroupState(group); state != "Stable" || claims != partitions || len(c.Members(group)) != len(live) {
		t.Errorf("%s with %d members and %d claims, want Stable with %d and %d", state, len(c.Members(group)), claims, len(live), partitions)
	}
	for p := range partitions {
		wantCommitted(t, c, int32(p), messages)
	}
}
