package strategy_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// plain is a strategy without any optional ability.
type plain struct {
	plan sarama.BalanceStrategyPlan
	err  error
}

func (plain) Name() string { return "plain" }

func (p plain) Plan(map[string]sarama.ConsumerGroupMemberMetadata, map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	return p.plan, p.err
}

func (plain) AssignmentData(memberID string, _ map[string][]int32, generation int32) ([]byte, error) {
	return fmt.Append(nil, memberID, generation), nil
}

// The optional abilities.
type (
	protocols struct{}
	hearing   struct{ heard *[]int32 }
	speaking  struct{}
)

func (protocols) SupportedProtocols() []sarama.RebalanceProtocol {
	return []sarama.RebalanceProtocol{sarama.RebalanceProtocolCooperative, sarama.RebalanceProtocolEager}
}

func (h hearing) OnAssignment(_ *sarama.ConsumerGroupMemberAssignment, generation int32) {
	*h.heard = append(*h.heard, generation)
}

func (speaking) SubscriptionUserData(topics []string) ([]byte, error) {
	return fmt.Append(nil, topics), errors.New("spoken")
}

// combine returns a strategy with the abilities whose bits are set in which: protocols, hearing, speaking.
func combine(which int, h hearing) sarama.BalanceStrategy {
	switch which {
	case 1:
		return struct {
			plain
			protocols
		}{}
	case 2:
		return struct {
			plain
			hearing
		}{hearing: h}
	case 3:
		return struct {
			plain
			protocols
			hearing
		}{hearing: h}
	case 4:
		return struct {
			plain
			speaking
		}{}
	case 5:
		return struct {
			plain
			protocols
			speaking
		}{}
	case 6:
		return struct {
			plain
			hearing
			speaking
		}{hearing: h}
	case 7:
		return struct {
			plain
			protocols
			hearing
			speaking
		}{hearing: h}
	default:
		return plain{}
	}
}

// A wrapped strategy has the abilities of the one inside, and hears.
func TestHeardKeepsAbilities(t *testing.T) {
	for which := range 8 {
		t.Run(fmt.Sprintf("%03b", which), func(t *testing.T) {
			var inside, outside []int32
			s := strategy.Heard(combine(which, hearing{&inside}), func(_ strategy.Assignment, generation int32) {
				outside = append(outside, generation)
				if which&2 != 0 && len(inside) != len(outside) {
					t.Error("the listener hears before the strategy inside")
				}
			})
			checkAbilities(t, s, which)
			s.(sarama.OnAssignmentBalanceStrategy).OnAssignment(&sarama.ConsumerGroupMemberAssignment{}, 7)
			if !slices.Equal(outside, []int32{7}) || slices.Equal(inside, []int32{7}) != (which&2 != 0) {
				t.Errorf("inside heard %v, outside %v", inside, outside)
			}
		})
	}
}

func checkAbilities(t *testing.T, s sarama.BalanceStrategy, which int) {
	data, err := s.AssignmentData("m", nil, 3)
	if s.Name() != "plain" || string(data) != "m3" || err != nil {
		t.Errorf("name %q, data %q, %v", s.Name(), data, err)
	}
	want := []sarama.RebalanceProtocol{sarama.RebalanceProtocolEager}
	if which&1 != 0 {
		want = protocols{}.SupportedProtocols()
	}
	if got := s.(sarama.RebalanceProtocolBalanceStrategy).SupportedProtocols(); !slices.Equal(got, want) {
		t.Errorf("protocols %v, want %v", got, want)
	}
	speaker, speaks := s.(sarama.SubscriptionUserDataBalanceStrategy)
	if speaks != (which&4 != 0) {
		t.Fatalf("speaks: %v", speaks)
	}
	if speaks {
		if data, err := speaker.SubscriptionUserData([]string{"a"}); string(data) != "[a]" || err == nil {
			t.Errorf("user data %q, %v", data, err)
		}
	}
}

// A member that gets nothing is sent an assignment that says so: of zero bytes sarama tells nobody.
func TestMemberWithoutPartitionsIsToldSo(t *testing.T) {
	members := map[string]sarama.ConsumerGroupMemberMetadata{"a": {}, "b": {}, "c": {}}
	for name, inner := range map[string]sarama.BalanceStrategyPlan{
		"an entry is missing": {"a": {"t": {0}}},
		"an entry is nil":     {"a": {"t": {0}}, "b": nil, "c": {}},
		"no plan":             nil,
	} {
		got, err := strategy.Heard(plain{plan: inner}, nil).Plan(members, nil)
		if err != nil || len(got) != 3 || inner["a"] != nil && !reflect.DeepEqual(got["a"], inner["a"]) {
			t.Fatalf("%s: plan %v, %v", name, got, err)
		}
		for id, topics := range got {
			var sync sarama.SyncGroupRequest
			if err := sync.AddGroupAssignmentMember(id, &sarama.ConsumerGroupMemberAssignment{Topics: topics}); err != nil {
				t.Fatal(err)
			}
			if topics == nil || len(sync.GroupAssignments[0].Assignment) == 0 {
				t.Errorf("%s: %s is sent nothing", name, id)
			}
		}
	}
}

func TestErrorOfAPlanIsPassedOn(t *testing.T) {
	want := errors.New("no plan")
	got, err := strategy.Heard(plain{err: want, plan: sarama.BalanceStrategyPlan{}}, nil).Plan(map[string]sarama.ConsumerGroupMemberMetadata{"a": {}}, nil)
	if got != nil || !errors.Is(err, want) {
		t.Errorf("plan %v, %v", got, err)
	}
}

// sarama sorts the partitions in place after it has told of them, and hands the same map to the session: the listener's are its own.
func TestAssignmentIsTheListenersOwn(t *testing.T) {
	var heard strategy.Assignment
	s := strategy.Heard(plain{}, func(a strategy.Assignment, _ int32) { heard = a }).(sarama.OnAssignmentBalanceStrategy)
	topics := map[string][]int32{"t": {2, 0, 1}}
	s.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: topics}, 1)
	slices.Sort(topics["t"])
	topics["u"] = []int32{5}
	if want := (strategy.Assignment{"t": {2, 0, 1}}); !reflect.DeepEqual(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
	s.OnAssignment(&sarama.ConsumerGroupMemberAssignment{}, 2)
	if heard == nil || len(heard) != 0 {
		t.Errorf("heard %v, want an assignment of nothing", heard)
	}
}

// sarama's own strategies keep what they can.
func TestSaramasStrategiesKeepTheirProtocols(t *testing.T) {
	for _, s := range []sarama.BalanceStrategy{
		sarama.NewBalanceStrategyRange(), sarama.NewBalanceStrategyRoundRobin(), sarama.NewBalanceStrategySticky(),
		sarama.NewBalanceStrategyCooperativeSticky(),
	} {
		h := strategy.Heard(s, func(strategy.Assignment, int32) {})
		_, speaks := s.(sarama.SubscriptionUserDataBalanceStrategy)
		_, still := h.(sarama.SubscriptionUserDataBalanceStrategy)
		if h.Name() != s.Name() || speaks != still {
			t.Errorf("%s: named %s, speaks %v and %v", s.Name(), h.Name(), speaks, still)
		}
		want := []sarama.RebalanceProtocol{sarama.RebalanceProtocolEager}
		if p, ok := s.(sarama.RebalanceProtocolBalanceStrategy); ok {
			want = p.SupportedProtocols()
		}
		if got := h.(sarama.RebalanceProtocolBalanceStrategy).SupportedProtocols(); !slices.Equal(got, want) {
			t.Errorf("%s: protocols %v, want %v", s.Name(), got, want)
		}
	}
}
