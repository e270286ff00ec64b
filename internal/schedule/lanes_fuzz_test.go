package schedule_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/schedule"
)

// model is lanes the naive way.
type model struct {
	width         int
	byKey         map[uint64]*modelLane
	line, retries []*modelLane
	turn          bool // of the retries
}

type modelLane struct {
	waits []int
	out   int
}

// of returns the lane of a key: a new one for each element without.
func (m *model) of(key uint64) *modelLane {
	if key == 0 {
		return &modelLane{}
	}
	if m.byKey[key] == nil {
		m.byKey[key] = &modelLane{}
	}
	return m.byKey[key]
}

// enters says that a lane may go on, and is in no line.
func (m *model) enters(l *modelLane) bool {
	return len(l.waits) > 0 && l.out < m.width && !slices.Contains(m.line, l) && !slices.Contains(m.retries, l)
}

func (m *model) push(l *modelLane, value int) {
	l.waits = append(l.waits, value)
	m.enter(l)
}

func (m *model) enter(l *modelLane) {
	if m.enters(l) {
		m.line = append(m.line, l)
	}
}

func (m *model) end(l *modelLane) {
	l.out--
	m.enter(l)
}

func (m *model) unshift(l *modelLane, value int) {
	l.out--
	l.waits = slices.Insert(l.waits, 0, value)
}

func (m *model) putBack(l *modelLane, value int) {
	if m.unshift(l, value); m.enters(l) {
		m.line = slices.Insert(m.line, 0, l)
	}
}

func (m *model) again(l *modelLane, value int) {
	if m.unshift(l, value); m.enters(l) {
		m.retries = append(m.retries, l)
	}
}

func (m *model) pop() (l *modelLane) {
	from := &m.line
	if len(m.line) == 0 || m.turn && len(m.retries) > 0 {
		from = &m.retries
	}
	m.turn = from == &m.line
	l, *from = (*from)[0], (*from)[1:]
	return l
}

func (m *model) take(most, lanes int) (values []int) {
	for ; len(values) < most && lanes > 0 && m.ready() > 0; lanes-- {
		l := m.pop()
		n := min(len(l.waits), most-len(values))
		if m.width > 1 {
			n = 1
		}
		values = append(values, l.waits[:n]...)
		l.waits = l.waits[n:]
		l.out += n
		m.enter(l)
	}
	return values
}

func (m *model) ready() int { return len(m.line) + len(m.retries) }

// play does the same on lanes and on the model.
type play struct {
	t      *testing.T
	lanes  *schedule.Lanes[int]
	model  *model
	laneOf map[*schedule.Item[int]]*modelLane
	out    items
	next   int
	ended  int
}

func newPlay(t *testing.T, width int) *play {
	return &play{
		t: t, lanes: schedule.NewLanes[int](width), model: &model{width: width, byKey: map[uint64]*modelLane{}},
		laneOf: map[*schedule.Item[int]]*modelLane{},
	}
}

func (p *play) do(op byte) {
	arg := int(op & 31)
	switch kind := op >> 5; {
	case kind < 3:
		p.push(uint64(arg % 5))
	case kind < 5:
		p.take(arg%4+1, arg%3+1)
	case len(p.out) == 0:
	case kind == 5: // the oldest of a lane ends first, as a runner has it
		it := p.remove(0)
		p.ended++
		p.lanes.End(it)
		p.model.end(p.laneOf[it])
	case kind == 6:
		p.again(arg % len(p.out))
	default: // the youngest goes back
		it := p.remove(len(p.out) - 1)
		p.lanes.PutBack(it)
		p.model.putBack(p.laneOf[it], it.Value)
	}
	if p.lanes.Ready() != p.model.ready() || p.lanes.Len() != p.next-p.ended-len(p.out) {
		p.t.Fatalf("%d lanes ready of %d elements, want %d of %d", p.lanes.Ready(), p.lanes.Len(), p.model.ready(), p.next-p.ended-len(p.out))
	}
}

func (p *play) push(key uint64) {
	it := &schedule.Item[int]{Value: p.next}
	lane := p.model.of(key)
	p.laneOf[it] = lane
	p.lanes.Push(it, key)
	p.model.push(lane, p.next)
	p.next++
}

func (p *play) take(most, lanes int) {
	want := p.model.take(most, lanes)
	got, run := take(p.lanes, most, lanes)
	if !slices.Equal(got, want) {
		p.t.Fatalf("took %v, want %v", got, want)
	}
	p.out = append(p.out, run...)
}

// again fails an element. Of a narrow lane that is the last one that is out: what was taken behind it goes back first.
func (p *play) again(i int) {
	lane := p.laneOf[p.out[i]]
	if p.model.width == 1 && lane.out > 1 {
		return
	}
	it := p.remove(i)
	fresh := &schedule.Item[int]{Value: it.Value}
	p.laneOf[fresh] = lane
	p.lanes.Again(it, fresh)
	p.model.again(lane, it.Value)
}

func (p *play) remove(i int) *schedule.Item[int] {
	it := p.out[i]
	p.out = slices.Delete(p.out, i, i+1)
	return it
}

// FuzzLanes plays operations on lanes and on the model: the same elements start in the same order, and nothing that may start is withheld.
func FuzzLanes(f *testing.F) {
	random := rand.NewChaCha8([32]byte{})
	for i := range uint8(60) {
		ops := make([]byte, 200)
		_, _ = random.Read(ops)
		f.Add(ops, i)
	}
	f.Fuzz(func(t *testing.T, ops []byte, width uint8) {
		p := newPlay(t, int(width%3)+1)
		for _, op := range ops[:min(len(ops), 200)] {
			p.do(op)
		}
	})
}
