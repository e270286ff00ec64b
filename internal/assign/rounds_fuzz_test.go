package assign_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/assign"
)

// FuzzRounds lets members join, leave, die and drain while tasks start and end. No task is interrupted, no round goes in circles, and in
// the end each has its share. Each byte is a choice.
func FuzzRounds(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		f.Add(randomBytes(random, 200))
	}
	f.Fuzz(live)
}

func TestRoundsWhateverHappens(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		live(t, randomBytes(random, 200))
	}
}

func live(t *testing.T, choices []byte) {
	d := dice(choices[:min(len(choices), 400)])
	topics := assign.Partitions{}
	for _, name := range names[:1+d.roll(3)] {
		topics[name] = numbers(1 + d.roll(6))
	}
	g := newGroup(t, topics)
	l := &life{dice: &d, group: g, mixed: d.chance(3), weighted: d.chance(3)}
	l.arrive()
	for len(d) > 0 {
		l.happen()
	}
	l.rest()
}

type life struct {
	*dice
	*group
	mixed, weighted bool // members differ in what they subscribe to, in their slots
}

func (l *life) happen() {
	switch op := l.roll(16); {
	case op < 4:
		l.task(true)
	case op < 8:
		l.task(false)
	case op < 9:
		l.arrive()
	case op < 10 && len(l.peers) > 1:
		l.leave(l.any()) // whatever it ran is lost
		l.round()
	case op < 11:
		l.any().draining = !l.any().draining
		l.round()
	case op < 12:
		l.still()
	case op < 13:
		l.calm()
	case op < 14:
		l.overdue()
	default:
		l.round()
	}
}

func (l *life) any() *peer { return l.peers[l.roll(len(l.peers))] }

func (l *life) arrive() {
	if len(l.peers) == 5 {
		return
	}
	topics := names
	if l.mixed {
		topics = names[l.roll(2) : 2+l.roll(2)]
	}
	p := l.join(topics...)
	p.eager = l.chance(2)
	if l.weighted {
		p.slots = 1 + l.roll(3)
	}
	l.round()
}

// task starts a task on some claim or ends one.
func (l *life) task(start bool) {
	p := l.any()
	claims := slices.SortedFunc(maps.Keys(p.claims), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.number, b.number))
	})
	for _, k := range claims {
		if l.chance(2) && (!start || !has(p.told.HandOver, k)) {
			p.end(k)
			if start {
				p.busy[k] = true
			}
		}
	}
}

// overdue lets the tasks of a member be past the limit.
func (l *life) overdue() {
	p := l.any()
	for k := range p.busy {
		p.over[k] = true
	}
}

// rest ends the tasks one member after another, starts nothing new, and wants the best balance in the end.
func (l *life) rest() {
	for _, p := range slices.Clone(l.peers) {
		clear(p.busy)
		clear(p.over)
		l.calm()
	}
	l.calm()
	moved := l.moved
	l.still()
	if l.moved != moved {
		l.t.Fatalf("%d moves in a group that was at rest", l.moved-moved)
	}
}
