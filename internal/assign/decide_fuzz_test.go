package assign_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// dice makes choices out of bytes; without any left it always makes the first one.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

func (d *dice) chance(in int) bool { return d.roll(in) == in-1 }

var names = []string{"a", "b", "c"}

// some picks partitions, now and then one that does not exist.
func (d *dice) some(topics []string, oneIn int) assign.Partitions {
	s := assign.Partitions{}
	for _, topic := range topics {
		for number := range int32(3) {
			if d.chance(oneIn) {
				s[topic] = append(s[topic], number)
			}
		}
	}
	return s
}

// anything is a round in which members say what they like.
func (d *dice) anything() (members []assign.Member, topics assign.Partitions) {
	topics = assign.Partitions{}
	for _, name := range names[:1+d.roll(3)] {
		for number := range int32(1 + d.roll(3)) {
			topics[name] = append(topics[name], number)
		}
	}
	for i := range 1 + d.roll(4) {
		members = append(members, d.member(string(rune('A'+i)), uint64(i)))
	}
	return members, topics
}

func (d *dice) member(id string, owner uint64) assign.Member {
	m := assign.Member{ID: id, Topics: slices.Clone(names[d.roll(2) : 2+d.roll(2)]), Generation: int32(d.roll(3)) - 1}
	if d.chance(3) {
		m.Held = d.some(names, 4)
	}
	if d.chance(8) {
		return m
	}
	r := &assign.Report{Owner: owner, Generation: int32(d.roll(4)), Slots: d.roll(3), Requests: int64(d.roll(2))}
	r.Draining, r.Ghost, r.CutShort, r.Stamps = d.chance(6), d.chance(10), d.chance(12), !d.chance(5)
	if d.chance(10) {
		r.Owner = 0
	}
	r.Owned, r.Busy, r.Marked = d.some(names, 4), d.some(m.Topics, 4), d.some(names, 4)
	r.Over, r.Stuck = d.some(names, 4), d.some(names, 6)
	m.Report = r
	return m
}

// FuzzDecide plans for members that say anything, and compares with what a naive model allows and with the best that could be done.
func FuzzDecide(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		f.Add(randomBytes(random, 160))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		d := dice(choices)
		members, topics := d.anything()
		check(t, members, topics)
	})
}

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func TestDecideWhateverMembersSay(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 3_000 {
		d := dice(randomBytes(random, 160))
		members, topics := d.anything()
		check(t, members, topics)
	}
}
