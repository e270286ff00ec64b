package assign_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// FuzzAgain plans for eager members with many subscriptions, lets them do as they are told, and wants the same plan again: the same marks
// too, for what was marked and is not any more would be busy again when it was to go.
func FuzzAgain(f *testing.F) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 40 {
		f.Add(randomBytes(random, 200))
	}
	f.Fuzz(planAgain)
}

func TestPlanningAgainChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 10_000 {
		planAgain(t, randomBytes(random, 200))
	}
}

func planAgain(t *testing.T, choices []byte) {
	d := dice(choices)
	members, topics := d.settled()
	first := assign.Decide(members, topics)
	for i, m := range members {
		if m.ID == late {
			continue
		}
		share := first.Shares[m.ID]
		members[i].Report.Owned, members[i].Report.Marked = share.Assigned, share.HandOver
	}
	if again := assign.Decide(members, topics); !reflect.DeepEqual(again.Shares, first.Shares) || len(again.Moved) > 0 {
		t.Fatalf("of %+v:\n%+v\n%+v", members, first.Shares, again)
	}
}

// settled is a group of one generation in which each partition has at most one owner, most run a task, and some are marked.
func (d *dice) settled() (members []assign.Member, topics assign.Partitions) {
	topics = assign.Partitions{}
	all := []string{"a", "b", "c", "d", "e"}[:1+d.roll(5)]
	for _, name := range all {
		topics[name] = numbers(1 + d.roll(6))
	}
	for i := range 3 + d.roll(5) {
		r := assign.Report{Owner: uint64(i), Generation: 3, Slots: 1 + d.roll(2), Draining: d.chance(8)}
		r.Busy, r.Owned, r.Marked = assign.Partitions{}, assign.Partitions{}, assign.Partitions{}
		m := assign.Member{ID: string(rune('A' + i)), Report: &r}
		for _, name := range all {
			if d.chance(2) {
				m.Topics = append(m.Topics, name)
			}
		}
		members = append(members, m)
	}
	for _, name := range all {
		for _, number := range topics[name] {
			d.own(members, name, number)
		}
	}
	return append(members, d.late(all)), topics
}

const late = "late"

// late is one that has missed a generation, and then does not join: it stays in the group with its report. Its tasks may run on partitions
// that others own now.
func (d *dice) late(topics []string) assign.Member {
	r := assign.Report{Owner: 99, Generation: 2, Draining: true}
	if d.chance(2) {
		r.Busy = d.some(topics, 3)
	}
	return assign.Member{ID: late, Topics: topics, Report: &r}
}

// own gives a partition to one that subscribes to it, to an early one rather than to a late one.
func (d *dice) own(members []assign.Member, topic string, number int32) {
	may := slices.DeleteFunc(slices.Clone(members), func(m assign.Member) bool { return !slices.Contains(m.Topics, topic) })
	if len(may) == 0 {
		return
	}
	r := may[min(d.roll(len(may)), d.roll(len(may)))].Report
	if d.roll(5) > 0 {
		r.Busy[topic] = append(r.Busy[topic], number)
	} else {
		r.Owned[topic] = append(r.Owned[topic], number)
	}
	if d.chance(4) {
		r.Marked[topic] = append(r.Marked[topic], number)
	}
}
