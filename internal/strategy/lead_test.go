package strategy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// seat is a process with its strategy.
type seat struct {
	*one
	strategy *strategy.Preserving
	id       string // empty where the coordinator does not know it
}

// coordinator leads a group through its rounds, and knows of which generations all members stamp.
type coordinator struct {
	t       *testing.T
	seats   []*seat
	ids     int    // that were given out
	all     []bool // by generation, and one before the first
	stored  []*seat
	storedN int  // how long all was when the latest assignment was stored
	quick   bool // a process that it does not know joins with a single request, as a static member does
}

func newCoordinator(t *testing.T) *coordinator {
	t.Helper()
	c := &coordinator{t: t}
	c.forget()
	return c
}

func (c *coordinator) process(stamps bool) *seat {
	o := &one{report: assign.Report{Owner: uint64(len(c.seats) + 1), Stamps: stamps}}
	s := &seat{one: o, strategy: strategy.NewPreserving(o, sarama.RebalanceProtocolEager)}
	c.seats = append(c.seats, s)
	return s
}

func (c *coordinator) join(s *seat) sarama.ConsumerGroupMemberMetadata {
	if s.id == "" {
		s.report.Generation = 0
		c.ids++
		s.id = fmt.Sprint("member ", c.ids)
		if !c.quick {
			subscription(c.t, s.strategy, nil, -1, "t")
		}
	}
	return subscription(c.t, s.strategy, nil, -1, "t")
}

// round lets the first of those that join lead it. Those that do not join are no members any more. It returns since when all stamp, as those
// are told that the assignment reaches.
func (c *coordinator) round(joined, reached []*seat) int32 {
	c.t.Helper()
	members, hear, all := map[string]sarama.ConsumerGroupMemberMetadata{}, map[string]*strategy.Preserving{}, true
	for _, s := range c.seats {
		if !slices.Contains(joined, s) {
			s.id = ""
			continue
		}
		m := c.join(s)
		members[s.id], all = m, all && s.report.Stamps
		if slices.Contains(reached, s) {
			hear[s.id] = s.strategy
		}
	}
	generation := int32(len(c.all))
	c.all = append(c.all, all)
	leader := joined[0].strategy
	sync(c.t, leader, members, nil, generation, hear)
	for _, s := range reached {
		s.report.Generation = generation
	}
	if len(reached) > 0 {
		c.stored, c.storedN = slices.Clone(joined), len(c.all)
	}
	return c.since(leader, generation)
}

// since is what is told, and wants it to be true.
func (c *coordinator) since(leader *strategy.Preserving, generation int32) int32 {
	c.t.Helper()
	data, err := leader.AssignmentData("", nil, generation)
	if err != nil {
		c.t.Fatal(err)
	}
	told, err := assign.ParseAssignment(data, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	since := told.StampedSince
	if all := c.all[generation]; all != (since > 0) || since > generation || all && slices.Contains(c.all[since:], false) {
		c.t.Fatalf("generation %d: all are said to stamp since %d, of %v", generation, since, c.all)
	}
	return since
}

// forget is the end of the group's life.
func (c *coordinator) forget() {
	c.all, c.stored, c.storedN = []bool{true}, nil, 1
	c.lose(nil)
}

// fail lets another coordinator go on from what was stored.
func (c *coordinator) fail() {
	c.all = c.all[:c.storedN]
	c.lose(c.stored)
}

func (c *coordinator) lose(but []*seat) {
	for _, s := range c.seats {
		if !slices.Contains(but, s) {
			s.id = ""
		}
	}
}

// E3: joins follow so fast that nobody hears of rounds in which all members stamp. The one that has led them has seen it.
func TestE3ALeaderVouchesForRoundsThatReachedNobody(t *testing.T) {
	c := newCoordinator(t)
	a, b := c.process(true), c.process(true)
	both := []*seat{a, b}
	c.round(both, both)
	for range 3 {
		c.round(both, nil)
	}
	c.process(true)
	if since := c.round(c.seats, both); since != 1 || !b.word.StampedFrom(2) {
		t.Errorf("since %d: %+v", since, b.word)
	}
	c.round(c.seats, nil)
	if since := c.round([]*seat{b, a}, both); since != 7 {
		t.Errorf("since %d, and the leader knows nothing of the round before", since)
	}
}

// It vouches for nothing that it has not seen.
func TestE3ALeaderVouchesForItsOwnRoundsAlone(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(c *coordinator, a, b, other *seat) // from generation 3 on, of which a has led the first two
		want      int32
	}{
		"nothing": {func(*coordinator, *seat, *seat, *seat) {}, 1},
		"the leader joins again before its round is made": {func(c *coordinator, _, _, _ *seat) {
			c.all = c.all[:2] // and the coordinator lets it plan that one again
		}, 1},
		"another one has led a round": {func(c *coordinator, a, b, _ *seat) {
			c.round([]*seat{b, a}, nil)
		}, 4},
		"another strategy has won a round": {func(c *coordinator, a, b, other *seat) {
			c.join(a)
			c.all = append(c.all, false)
		}, 4},
		"one did not stamp": {func(c *coordinator, a, b, other *seat) {
			c.round([]*seat{a, b, other}, nil)
		}, 4},
		"one did not stamp, and rounds have followed": {func(c *coordinator, a, b, other *seat) {
			c.round([]*seat{a, b, other}, nil)
			c.round([]*seat{a, b}, nil)
			c.round([]*seat{a, b}, nil)
		}, 4},
		"the member was removed": {func(c *coordinator, a, b, other *seat) {
			c.round([]*seat{b, other}, nil)
		}, 4},
		"another life of the group has come as far": {func(c *coordinator, a, b, other *seat) {
			c.forget()
			c.quick = true
			c.round([]*seat{other}, []*seat{other})
			c.round([]*seat{other}, []*seat{other})
		}, 3},
		"another coordinator has counted again": {func(c *coordinator, a, b, other *seat) {
			c.fail()
			c.round([]*seat{b, a, other}, []*seat{other})
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCoordinator(t)
			a, b, other := c.process(true), c.process(true), c.process(false)
			both := []*seat{a, b}
			c.round(both, both)
			c.round(both, nil)
			test.meanwhile(c, a, b, other)
			if since := c.round(both, both); since != test.want {
				t.Errorf("since %d, want %d, of %v", since, test.want, c.all)
			}
		})
	}
}

// The member may be in the group under the id that it has lost too: which of the two is which, nobody can say.
func TestE3AMemberThatIsThereTwiceVouchesForNothing(t *testing.T) {
	c := newCoordinator(t)
	a := c.process(true)
	twin := c.process(true)
	twin.report.Owner = a.report.Owner
	c.round([]*seat{a}, []*seat{a})
	c.round([]*seat{a}, nil)
	if since := c.round([]*seat{a, twin}, nil); since != 3 {
		t.Errorf("since %d", since)
	}
}
