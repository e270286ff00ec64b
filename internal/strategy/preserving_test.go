package strategy_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/assign"
	"github.com/evenkeel-go/evenkeel/internal/strategy"
)

// one is a member whose report the test sets, and which keeps what it hears.
type one struct {
	report     assign.Report
	assigned   strategy.Assignment
	word       strategy.Word
	generation int32
	led        []*assign.Plan
	crowded    []int
}

func (o *one) Report() assign.Report { return o.report }

func (o *one) Assigned(a strategy.Assignment, w strategy.Word, generation int32) {
	o.assigned, o.word, o.generation = a, w, generation
}

func (o *one) Crowded(bytes int) { o.crowded = append(o.crowded, bytes) }

func (o *one) Planned(p *assign.Plan) { o.led = append(o.led, p) }

// subscription is what sarama makes of a member's strategy for a join.
func subscription(t *testing.T, s *strategy.Preserving, owned map[string][]int32, generation int32, topics ...string) sarama.ConsumerGroupMemberMetadata {
	t.Helper()
	data, err := s.SubscriptionUserData(topics)
	if err != nil {
		t.Fatal(err)
	}
	m := sarama.ConsumerGroupMemberMetadata{Version: 2, Topics: topics, UserData: data, GenerationID: generation}
	for topic, partitions := range owned {
		m.OwnedPartitions = append(m.OwnedPartitions, &sarama.OwnedPartition{Topic: topic, Partitions: partitions})
	}
	return m
}

// sync lets a leader plan, and each member hear what it was given.
func sync(t *testing.T, leader *strategy.Preserving, members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32, generation int32, hear map[string]*strategy.Preserving) {
	t.Helper()
	plan, err := leader.Plan(members, topics)
	if err != nil {
		t.Fatal(err)
	}
	for id := range members {
		data, err := leader.AssignmentData(id, plan[id], generation)
		if err != nil || plan[id] == nil || len(data) == 0 {
			t.Fatalf("%s is given %v with %d bytes, %v", id, plan[id], len(data), err)
		}
		if h := hear[id]; h != nil {
			h.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: plan[id], UserData: data}, generation)
		}
	}
}

// Under either protocol: what runs stays and is to be handed over, what does not run moves at once, and each hears its part.
func TestABusyPartitionStaysAndIsToBeHandedOver(t *testing.T) {
	for _, protocol := range []sarama.RebalanceProtocol{sarama.RebalanceProtocolEager, sarama.RebalanceProtocolCooperative} {
		a, b := &one{}, &one{}
		as, bs := strategy.NewPreserving(a, protocol), strategy.NewPreserving(b, protocol)
		topics := map[string][]int32{"t": {0, 1, 2, 3}}
		a.report = assign.Report{Owner: 1, Generation: 1, Stamps: true, Slots: 1, Busy: assign.Partitions{"t": {0, 1, 2}}}
		b.report = assign.Report{Owner: 2, Stamps: true, Slots: 1}
		var held map[string][]int32
		if protocol == sarama.RebalanceProtocolEager {
			a.report.Owned = topics
		} else {
			held = topics
		}
		sync(t, bs, map[string]sarama.ConsumerGroupMemberMetadata{"a": subscription(t, as, held, 1, "t"), "b": subscription(t, bs, nil, -1, "t")},
			topics, 2, map[string]*strategy.Preserving{"a": as, "b": bs})
		given := b.assigned["t"]
		if protocol == sarama.RebalanceProtocolCooperative {
			if len(given) != 0 || len(b.led[0].Withheld) != 1 {
				t.Errorf("b has %v before a has let go, withheld %v", given, b.led[0].Withheld)
			}
		} else if !slices.Equal(given, []int32{3}) {
			t.Errorf("b has %v, want the idle one", given)
		}
		slices.Sort(a.assigned["t"])
		if !slices.Equal(a.assigned["t"], []int32{0, 1, 2}) || !a.word.Known || len(a.word.HandOver["t"]) != 1 || a.word.Members != 2 || a.generation != 2 {
			t.Errorf("%v: a has %v and hears %+v in generation %d", protocol, a.assigned, a.word, a.generation)
		}
		if len(a.led) > 0 || len(b.led) != 1 {
			t.Errorf("a has led %d rounds and b %d", len(a.led), len(b.led))
		}
	}
}

// Members of other kinds, and data that is damaged, are no reason not to plan.
func TestWhoeverSaysNothingOwnsWhatItsSubscriptionSays(t *testing.T) {
	leader := &one{}
	s := strategy.NewPreserving(leader, sarama.RebalanceProtocolCooperative)
	odd := sarama.ConsumerGroupMemberMetadata{
		Topics: []string{"t"}, UserData: []byte("keel?"), GenerationID: 3,
		OwnedPartitions: []*sarama.OwnedPartition{nil, {Topic: "t", Partitions: []int32{1}}},
	}
	plan, err := s.Plan(map[string]sarama.ConsumerGroupMemberMetadata{"odd": odd, "us": subscription(t, s, nil, -1, "t")}, map[string][]int32{"t": {0, 1}})
	want := sarama.BalanceStrategyPlan{"odd": {"t": {1}}, "us": {"t": {0}}}
	if err != nil || !reflect.DeepEqual(plan, want) {
		t.Errorf("planned %v, %v, want %v", plan, err, want)
	}
}

// A leader of another kind says nothing beside the partitions, or what is not ours.
func TestALeaderOfAnotherKindHasToldNothing(t *testing.T) {
	for _, data := range [][]byte{nil, {}, []byte("something else")} {
		o := &one{}
		topics := map[string][]int32{"t": {2, 0}}
		strategy.NewPreserving(o, sarama.RebalanceProtocolEager).OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: topics, UserData: data}, 4)
		if o.word.Known || !reflect.DeepEqual(map[string][]int32(o.assigned), topics) || o.generation != 4 {
			t.Errorf("%q: heard %+v with %v in generation %d", data, o.word, o.assigned, o.generation)
		}
	}
}

// What the leader says belongs to the partitions that it says it of.
func TestAWordBelongsToItsTopics(t *testing.T) {
	o := &one{}
	s := strategy.NewPreserving(o, sarama.RebalanceProtocolEager)
	data, err := s.AssignmentData("m", map[string][]int32{"t": {0}}, 4) // without a plan of our own
	if err != nil {
		t.Fatal(err)
	}
	s.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{"u": {0}}, UserData: data}, 4)
	if o.word.Known {
		t.Error("it was read with other topics")
	}
	s.OnAssignment(&sarama.ConsumerGroupMemberAssignment{Topics: map[string][]int32{"t": {0}}, UserData: data}, 4)
	if !o.word.Known {
		t.Error("it was not read with its own")
	}
}

// A broker keeps a group in one record: that it is about to be full is told once.
func TestReportsOfACrowdAreTold(t *testing.T) {
	o := &one{}
	for i := range int32(1000) {
		o.report.Owned = assign.Partitions{"t": append(o.report.Owned["t"], i*37)}
	}
	s := strategy.NewPreserving(o, sarama.RebalanceProtocolEager)
	data, err := s.SubscriptionUserData([]string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	enough := 500_000/len(data) + 1
	for _, members := range []int{enough - 1, enough, enough} {
		said := assign.Assignment{Members: members}.Encode(nil)
		s.OnAssignment(&sarama.ConsumerGroupMemberAssignment{UserData: said}, 1)
		if told := len(o.crowded) > 0; told != (members == enough) {
			t.Errorf("%d members with %d bytes each: told %v", members, len(data), o.crowded)
		}
	}
	if len(o.crowded) != 1 || o.crowded[0] != enough*len(data) {
		t.Errorf("told %v", o.crowded)
	}
}

func TestPreservingIsOfOneProtocol(t *testing.T) {
	for _, protocol := range []sarama.RebalanceProtocol{sarama.RebalanceProtocolEager, sarama.RebalanceProtocolCooperative} {
		s := strategy.NewPreserving(&one{}, protocol)
		if got := s.SupportedProtocols(); !slices.Equal(got, []sarama.RebalanceProtocol{protocol}) || s.Name() != "evenkeel" {
			t.Errorf("%s: %v", s.Name(), got)
		}
		conf := sarama.NewConfig()
		conf.Version = sarama.V3_6_0_0
		conf.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy.Heard(s, func(strategy.Assignment, int32) {})}
		if err := conf.Validate(); err != nil {
			t.Error(err)
		}
	}
}
