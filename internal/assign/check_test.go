package assign_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// check decides, and wants all that a plan promises. It returns the plan.
func check(t *testing.T, members []assign.Member, topics assign.Partitions) *assign.Plan {
	t.Helper()
	p := assign.Decide(members, topics)
	if p.Failure != nil {
		t.Fatalf("planning has failed: %v", p.Failure)
	}
	n := newNaive(members, topics)
	known := func(id string) bool {
		return slices.ContainsFunc(members, func(m assign.Member) bool { return m.ID == id && m.Report != nil })
	}
	at, keys := where(t, p), n.keys()
	var standings []standing
	for _, k := range keys {
		s := n.standing(k, known)
		standings = append(standings, s)
		checkPartition(t, p, k, s, at)
	}
	if served := len(keys) - count(p.Unserved); len(at) != served {
		t.Fatalf("%d partitions are given, want %d", len(at), served)
	}
	checkBalance(t, n, keys, standings, at)
	checkSame(t, p, members, topics)
	return p
}

func count(s assign.Partitions) (n int) {
	for _, numbers := range s {
		n += len(numbers)
	}
	return n
}

func checkPartition(t *testing.T, p *assign.Plan, k key, s standing, at map[key]string) {
	t.Helper()
	to, given := at[k]
	withheld := slices.ContainsFunc(p.Withheld, func(m assign.Move) bool { return m.Topic == k.topic && m.Partition == k.number })
	share := p.Shares[to]
	switch {
	case !given && (len(s.may) > 0 || s.owner != "" || !has(p.Unserved, k)):
		t.Fatalf("%v is lost: %+v", k, s)
	case !given:
		return
	case s.fixed && (to != s.owner || withheld):
		t.Fatalf("%v goes to %s while a task runs: %+v", k, to, s)
	case to != s.owner && !slices.Contains(s.may, to):
		t.Fatalf("%v goes to %s, who may not have it: %+v", k, to, s)
	case len(s.may) > 0 && !s.fixed && !slices.Contains(s.may, to):
		t.Fatalf("%v stays with %s, who drains and is idle: %+v", k, to, s)
	case len(s.may) == 0 && to != s.owner:
		t.Fatalf("%v goes to %s, with nobody to take it: %+v", k, to, s)
	}
	held := slices.ContainsFunc(s.holds, func(id string) bool { return id != to })
	if wait := held && to != s.owner; wait != withheld {
		t.Fatalf("%v goes to %s, withheld %v, want %v: %+v", k, to, withheld, wait, s)
	}
	drains := s.owner != "" && !slices.Contains(s.may, s.owner)
	marked, stopped := has(share.HandOver, k), has(share.Stop, k)
	switch {
	case marked && (!s.fixed || s.idle || s.stuck || len(s.may) == 0):
		t.Fatalf("%v is marked: %+v", k, s)
	case !marked && drains && s.fixed && !s.idle && !s.stuck && len(s.may) > 0:
		t.Fatalf("%v is not marked, and its owner drains: %+v", k, s)
	case stopped && !marked && s.rivals == 0:
		t.Fatalf("%v is stopped and need not go: %+v", k, s)
	}
}

// checkBalance compares with the best of all that could be done, where that can be counted. Nothing moves in vain.
func checkBalance(t *testing.T, n *naive, keys []key, standings []standing, at map[key]string) {
	t.Helper()
	b := n.problem(standings)
	counts := map[string]int{}
	moves := 0
	for i, k := range keys {
		if s := standings[i]; slices.Contains(s.may, at[k]) {
			counts[at[k]]++
			if slices.Contains(s.may, s.owner) && at[k] != s.owner {
				moves++
			}
		}
	}
	value := b.value(counts)
	if len(b.loose) <= 6 && len(n.members) <= 4 {
		best, fewest := b.best()
		if value > best+1e-9 {
			t.Fatalf("balance %v (%v), want %v, of %v in %+v", value, counts, best, standings, n.members)
		}
		if oneClass(standings) && moves != fewest {
			t.Fatalf("%d moves, want %d, of %+v", moves, fewest, n.members)
		}
	}
	for i, k := range keys {
		s, to := standings[i], at[k]
		if to == s.owner || s.fixed || !slices.Contains(s.may, s.owner) {
			continue
		}
		back := maps.Clone(counts)
		back[to]--
		back[s.owner]++
		if b.value(back) <= value+1e-9 {
			t.Fatalf("%v moves from %s to %s in vain: %v", k, s.owner, to, counts)
		}
	}
}

func oneClass(standings []standing) bool {
	for _, s := range standings {
		if !slices.Equal(s.may, standings[0].may) {
			return false
		}
	}
	return true
}

// checkSame wants the same plan whatever the order in which things are told.
func checkSame(t *testing.T, p *assign.Plan, members []assign.Member, topics assign.Partitions) {
	t.Helper()
	turned := slices.Clone(members)
	slices.Reverse(turned)
	reversed := func(s assign.Partitions) assign.Partitions {
		if s == nil {
			return nil
		}
		r := assign.Partitions{}
		for topic, numbers := range s {
			r[topic] = slices.Clone(numbers)
			slices.Reverse(r[topic])
		}
		return r
	}
	for i := range turned {
		turned[i].Held = reversed(turned[i].Held)
		turned[i].Topics = slices.Clone(turned[i].Topics)
		slices.Reverse(turned[i].Topics)
		if turned[i].Report != nil {
			r := *turned[i].Report
			r.Owned, r.Busy, r.Marked = reversed(r.Owned), reversed(r.Busy), reversed(r.Marked)
			turned[i].Report = &r
		}
	}
	if again := assign.Decide(turned, reversed(topics)); !reflect.DeepEqual(again, p) {
		t.Fatalf("another plan in another order:\n%+v\n%+v", again, p)
	}
}
