package assign_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// peer is a member of a simulated group.
type peer struct {
	id       string
	owner    uint64
	topics   []string
	eager    bool
	draining bool
	slots    int
	told     assign.Assignment
	at       int32 // the generation of its last assignment
	claims   map[key]bool
	busy     map[key]bool
	over     map[key]bool
}

// group is a simulated group: it reports, plans and does as it was told, round after round, and its tasks are never interrupted.
type group struct {
	t          *testing.T
	topics     assign.Partitions
	peers      []*peer
	generation int32
	joined     int
	moved      int // partitions that have changed their owner
	rounds     int
}

func newGroup(t *testing.T, topics assign.Partitions) *group {
	t.Helper()
	return &group{t: t, topics: topics}
}

func (g *group) join(topics ...string) *peer {
	g.joined++
	p := &peer{
		id: fmt.Sprintf("m%02d", g.joined), owner: uint64(g.joined), topics: topics,
		claims: map[key]bool{}, busy: map[key]bool{}, over: map[key]bool{},
	}
	g.peers = append(g.peers, p)
	return p
}

func (g *group) leave(p *peer) {
	g.peers = slices.DeleteFunc(g.peers, func(x *peer) bool { return x == p })
}

func setOf(keys map[key]bool) (s assign.Partitions) {
	for k := range keys {
		if s == nil {
			s = assign.Partitions{}
		}
		s[k.topic] = append(s[k.topic], k.number)
	}
	for _, numbers := range s {
		slices.Sort(numbers)
	}
	return s
}

// member is what the peer says, as it comes over the wire.
func (p *peer) member(t *testing.T) assign.Member {
	t.Helper()
	r := assign.Report{
		Owner: p.owner, Generation: p.at, StampedSince: p.told.StampedSince, Stamps: true, Slots: p.slots, Draining: p.draining,
		Busy: setOf(p.busy), Over: setOf(p.over), Marked: p.told.HandOver,
	}
	m := assign.Member{ID: p.id, Topics: p.topics, Generation: p.at}
	if p.eager {
		r.Owned = setOf(p.claims)
	} else {
		m.Held = setOf(p.claims)
	}
	report, err := assign.ParseReport(r.Encode(p.topics), p.topics)
	if err != nil {
		t.Fatal(err)
	}
	m.Report = report
	return m
}

func (g *group) members() (members []assign.Member) {
	for _, p := range g.peers {
		members = append(members, p.member(g.t))
	}
	return members
}

// round lets all join, and do what they are told.
func (g *group) round() *assign.Plan {
	g.t.Helper()
	plan := check(g.t, g.members(), g.topics)
	g.generation++
	g.rounds++
	g.moved += len(plan.Moved) + len(plan.Withheld)
	for _, p := range g.peers {
		p.obey(g.t, plan, g.generation)
	}
	return plan
}

func (p *peer) obey(t *testing.T, plan *assign.Plan, generation int32) {
	t.Helper()
	share := plan.Shares[p.id]
	topics := slices.Collect(maps.Keys(share.Assigned))
	data := plan.Assignment(p.id, generation).Encode(topics)
	told, err := assign.ParseAssignment(data, topics)
	if err != nil {
		t.Fatal(err)
	}
	for k := range p.busy {
		if !has(share.Assigned, k) {
			t.Fatalf("%s loses %v in the middle of a task", p.id, k)
		}
	}
	p.told, p.at = told, generation
	clear(p.claims)
	for topic, numbers := range share.Assigned {
		for _, number := range numbers {
			p.claims[key{topic, number}] = true
		}
	}
	for topic, numbers := range told.Stop {
		for _, number := range numbers {
			p.end(key{topic, number})
		}
	}
}

func (p *peer) end(k key) {
	delete(p.busy, k)
	delete(p.over, k)
}

// asks says that the peer asks for a round: it has an idle partition to hand over.
func (p *peer) asks() bool {
	for k := range p.claims {
		if has(p.told.HandOver, k) && !p.busy[k] {
			return true
		}
	}
	return false
}

// calm lets rounds go on as long as somebody asks for one.
func (g *group) calm() {
	g.t.Helper()
	for plan := g.round(); ; plan = g.round() {
		asked := len(plan.Withheld) > 0 || slices.ContainsFunc(g.peers, (*peer).asks)
		if !asked {
			return
		}
		if g.rounds > 2_000 {
			g.t.Fatal("the group never rests")
		}
	}
}

// still wants that a round in which nothing has happened changes nothing.
func (g *group) still() {
	g.t.Helper()
	before := g.round()
	for i := 0; len(before.Withheld) > 0 || stops(before); i++ {
		if before = g.round(); i == 5 {
			g.t.Fatalf("nothing happens, and the plan goes on to change: %+v", before)
		}
	}
	again := g.round()
	if len(again.Moved)+len(again.Withheld) > 0 || !reflect.DeepEqual(again.Shares, before.Shares) {
		g.t.Fatalf("planned again it is another plan:\n%+v\n%+v", before, again)
	}
}

// stops says that the plan has ended a task, which is a change.
func stops(p *assign.Plan) bool {
	for _, s := range p.Shares {
		if len(s.Stop) > 0 {
			return true
		}
	}
	return false
}

// counts are the numbers of claims, in the order of the members.
func (g *group) counts() (n []int) {
	for _, p := range g.peers {
		n = append(n, len(p.claims))
	}
	return n
}

// work starts a task on each idle partition that may get one.
func (g *group) work() {
	for _, p := range g.peers {
		for k := range p.claims {
			if !has(p.told.HandOver, k) && !p.draining {
				p.busy[k] = true
			}
		}
	}
}

// finish ends all tasks that run.
func (g *group) finish() {
	for _, p := range g.peers {
		clear(p.busy)
		clear(p.over)
	}
}

func numbers(n int) (s []int32) {
	for i := range n {
		s = append(s, int32(i))
	}
	return s
}
